// What is said about a flame graph: what is not in it, what a search found.
import * as format from '../data/format';
import { valueText } from './canvas';
import { matchSum, type Tree } from './tree';

export function Cut({ tree }: { tree: Tree }) {
	const cut = tree.answer.cut;

	return cut && cut.nodes > 0 ? (
		<p class="quiet">
			{format.plural(cut.nodes, 'frame')} too small to see {cut.nodes === 1 ? 'is' : 'are'} omitted
			{cut.value > 0 ? `, ${valueText(tree, cut.value)} in total` : ''}.
		</p>
	) : null;
}

export function matchText(tree: Tree, text: string): string {
	const { n, value } = matchSum(tree, text);

	if (!n) return `No frame has "${text}" in its name.`;
	return `${format.plural(n, 'frame')} with "${text}": ${valueText(tree, value)}, ${format.percent((100 * value) / Math.max(1, tree.answer.total))} %.`;
}
