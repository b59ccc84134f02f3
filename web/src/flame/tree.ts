// A flame graph's nodes as the server sends them, laid out: x and width in the unit of the values, depth from the root.

export interface Answer {
	unit: 'ns' | 'bytes';
	total: number;
	names: string[];
	classes: string[];
	name: number[];
	parent: number[];
	value: number[];
	self: number[];
	count: number[];
	start?: number[];
	base?: number[];
	cut?: { nodes: number; value: number } | null;
	available?: boolean;
	reason?: string;
	command?: string;
}

export interface Tree {
	answer: Answer;
	n: number;
	x: Float64Array;
	depth: Int32Array;
	children: number[][];
	roots: number[];
	from: number; // what all roots span
	to: number;
	maxDepth: number;
}

// The heaviest child first, or each where it began.
export function treeOf(answer: Answer): Tree {
	const n = answer.parent.length,
		x = new Float64Array(n),
		depth = new Int32Array(n),
		{ start } = answer;
	const children: number[][] = Array.from({ length: n }, () => []),
		roots: number[] = [];
	for (let i = 0; i < n; i++) {
		const parent = answer.parent[i]!;
		if (parent >= 0 && parent < i) children[parent]!.push(i);
		else roots.push(i);
	}
	const heavier = (a: number, b: number): number =>
		weight(answer, b) - weight(answer, a) ||
		(answer.names[answer.name[a]!]! < answer.names[answer.name[b]!]! ? -1 : 1);
	let maxDepth = 0;
	const place = (list: number[], from: number): void => {
		if (!start) list.sort(heavier);
		for (const i of list) {
			x[i] = start ? start[i]! : from;
			from += weight(answer, i);
		}
	};
	place(roots, 0);
	for (let i = 0; i < n; i++) {
		// parents come before children
		if (answer.parent[i]! >= 0 && answer.parent[i]! < i) depth[i] = depth[answer.parent[i]!]! + 1;
		maxDepth = Math.max(maxDepth, depth[i]!);
		place(children[i]!, x[i]!);
	}
	const low = roots.reduce((least, i) => Math.min(least, x[i]!), roots.length ? Infinity : 0);
	const high = roots.reduce((most, i) => Math.max(most, x[i]! + weight(answer, i)), low + 1e-9);
	return { answer, n, x, depth, children, roots, from: low, to: high, maxDepth };
}

// Width: where two traces are compared, the larger of both, so that what went away is seen too.
export const weight = (answer: Answer, i: number): number =>
	answer.base ? Math.max(answer.value[i]!, answer.base[i]!) : answer.value[i]!;

export interface View {
	from: number;
	to: number;
	depth: number;
} // what is zoomed to

export function viewOf(tree: Tree, node: number | null): View {
	return node === null || node >= tree.n
		? { from: tree.from, to: tree.to, depth: 0 }
		: { from: tree.x[node]!, to: tree.x[node]! + weight(tree.answer, node), depth: tree.depth[node]! };
}

export type Visitor = (node: number, x0: number, x1: number, depth: number) => void;

// Nodes that can be seen, from the outermost in. What is narrower than a pixel is left to its parent.
export function eachNode(tree: Tree, view: View, width: number, visit: Visitor): void {
	const scale = width / (view.to - view.from),
		stack = [...tree.roots].reverse();
	while (stack.length) {
		const i = stack.pop()!,
			x0 = (tree.x[i]! - view.from) * scale,
			x1 = x0 + weight(tree.answer, i) * scale;
		if (x1 <= 0 || x0 >= width || x1 - x0 < 0.5) continue;
		visit(i, Math.max(0, x0), Math.min(width, x1), tree.depth[i]!);
		const list = tree.children[i]!;
		for (let c = list.length - 1; c >= 0; c--) stack.push(list[c]!);
	}
}

export interface NameSum {
	name: string;
	kind: string;
	value: number;
	self: number;
	count: number;
	base: number | null;
}

// Per name; one inside of itself counts once in the value.
export function sumNames(tree: Tree): NameSum[] {
	const { answer } = tree,
		sums = new Map<number, NameSum>(),
		open = new Map<number, number>();
	const enter = (i: number): void => {
		const name = answer.name[i]!;
		let sum = sums.get(name);
		if (!sum)
			sums.set(
				name,
				(sum = {
					name: answer.names[name]!,
					kind: answer.classes[name] ?? 'other',
					value: 0,
					self: 0,
					count: 0,
					base: answer.base ? 0 : null,
				}),
			);
		const nested = open.get(name) ?? 0;
		sum.self += answer.self[i]!;
		sum.count += answer.count[i]!;
		if (!nested) {
			sum.value += answer.value[i]!;
			if (answer.base) sum.base! += answer.base[i]!;
		}
		open.set(name, nested + 1);
	};
	const stack: [number, boolean][] = tree.roots.map(i => [i, false]);
	while (stack.length) {
		const [i, isDone] = stack.pop()!;
		if (isDone) {
			open.set(answer.name[i]!, open.get(answer.name[i]!)! - 1);
			continue;
		}
		enter(i);
		stack.push([i, true]);
		for (const child of tree.children[i]!) stack.push([child, false]);
	}
	return [...sums.values()].sort((a, b) => b.self - a.self);
}

// What frames with the text in their names take; those inside of another one count with it.
export function matchSum(tree: Tree, text: string): { n: number; value: number } {
	const { answer } = tree,
		wanted = text.trim().toLowerCase(),
		isHit = answer.names.map(name => name.toLowerCase().includes(wanted)),
		isInside = new Uint8Array(answer.parent.length);
	let n = 0,
		value = 0;
	answer.parent.forEach((parent, i) => {
		const hit = isHit[answer.name[i]!]!,
			below = parent >= 0 && isInside[parent] === 1;
		isInside[i] = hit || below ? 1 : 0;
		n += hit ? 1 : 0;
		value += hit && !below ? answer.value[i]! : 0;
	});
	return { n, value };
}
