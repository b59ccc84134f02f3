// A flame graph on a canvas: the root at the top (icicle) or at the bottom (flame).
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { css, shortName, siteColor, textOn, parse, hueColor } from '../data/colors';
import { mix } from '../timeline/paint';
import * as format from '../data/format';
import { isDark } from '../state/app';
import { begin } from '../timeline/overlay';
import { eachNode, viewOf, weight, type Tree } from './tree';

const ROW = 18;

interface Props {
	tree: Tree;
	zoom: number | null;
	onZoom: (node: number | null) => void;
	isUp: boolean; // root at the bottom
	search: string;
	label: string;
	onName?: (name: string) => void;
}

// Of two traces: what got slower is orange, what got faster blue, by how much of the whole.
function color(tree: Tree, i: number, dark: boolean): number {
	const { answer } = tree,
		name = answer.name[i]!;
	if (!answer.base) return siteColor(answer.names[name]!, answer.classes[name] ?? 'other', dark);
	const change = answer.value[i]! - answer.base[i]!,
		back = parse(dark ? '#3a414b' : '#e3e6ea');
	const share = Math.min(
		1,
		(Math.abs(change) / Math.max(1, weight(answer, i))) * 1.2 +
			(Math.abs(change) / Math.max(1, answer.total)) * 3,
	);
	return Math.abs(change) < 1 ? back : mix(hueColor(change > 0 ? 1 : 0, dark), back, Math.min(1, 0.1 + share));
}

export const valueText = (tree: Tree, value: number): string =>
	tree.answer.unit === 'bytes' ? format.bytes(value) : format.ns(value);

function Tip({ tree, node, x, y, width }: { tree: Tree; node: number; x: number; y: number; width: number }) {
	const { answer } = tree,
		value = answer.value[node]!,
		base = answer.base?.[node];

	return (
		<div
			class="tip"
			style={
				x > width * 0.6
					? { right: `${width - x + 12}px`, top: `${y + 16}px` }
					: { left: `${x + 12}px`, top: `${y + 16}px` }
			}
		>
			<div class="mono">{format.middle(answer.names[answer.name[node]!]!, 200)}</div>
			<div class="quiet">
				{valueText(tree, value)}, {format.percent((100 * value) / Math.max(1, answer.total))} %
				of all, self {valueText(tree, answer.self[node]!)},{' '}
				{format.plural(answer.count[node]!, 'call')}
			</div>
			{base !== undefined && (
				<div>
					before {valueText(tree, base)}: {value >= base ? '+' : '-'}
					{valueText(tree, Math.abs(value - base))}
					{base > 0
						? ` (${value >= base ? '+' : '-'}${format.percent(100 * Math.abs(value / base - 1))} %)`
						: ' (new)'}
				</div>
			)}
		</div>
	);
}

export function FlameCanvas({ tree, zoom, onZoom, isUp, search, label, onName }: Props) {
	const canvas = useRef<HTMLCanvasElement>(null),
		box = useRef<HTMLDivElement>(null);
	const [width, setWidth] = useState(0);
	const [hover, setHover] = useState<{ node: number; x: number; y: number } | null>(null);
	const [focus, setFocus] = useState<number | null>(null);
	const dark = isDark.value,
		view = viewOf(tree, zoom),
		height = Math.max(ROW, (tree.maxDepth + 1) * ROW);
	const top = (depth: number): number => (isUp ? height - (depth + 1) * ROW : depth * ROW);

	useEffect(() => {
		const watch = new ResizeObserver(entries => setWidth(Math.floor(entries[0]!.contentRect.width)));
		watch.observe(box.current!);
		return () => watch.disconnect();
	}, []);
	useLayoutEffect(() => {
		if (width < 2) return;
		const ctx = begin(canvas.current!, width, height, devicePixelRatio || 1),
			wanted = search.trim().toLowerCase(),
			back = parse(dark ? '#14171c' : '#ffffff');
		eachNode(tree, view, width, (i, x0, x1, depth) => {
			const name = tree.answer.names[tree.answer.name[i]!]!,
				isFaint =
					(wanted && !name.toLowerCase().includes(wanted)) ||
					(zoom !== null && depth < view.depth);
			const fill = isFaint ? mix(color(tree, i, dark), back, 0.3) : color(tree, i, dark),
				w = x1 - x0;
			ctx.fillStyle = css(fill);
			ctx.fillRect(x0, top(depth), Math.max(0.5, w - (w > 3 ? 1 : 0)), ROW - 1);
			if (w > 28) {
				const text = shortName(name),
					fits = Math.floor((w - 6) / 6.2);
				ctx.fillStyle = isFaint ? (dark ? '#9aa4b1' : '#57606b') : textOn(fill);
				ctx.fillText(
					text.length > fits ? text.slice(0, Math.max(1, fits - 1)) + '…' : text,
					x0 + 4,
					top(depth) + ROW / 2,
				);
			}
			if (i === focus || i === hover?.node) {
				ctx.strokeStyle = dark ? '#ffffff' : '#000000';
				ctx.strokeRect(x0 + 0.5, top(depth) + 0.5, Math.max(1, w - 1), ROW - 2);
			}
		});
	}, [tree, zoom, width, dark, isUp, search, focus, hover?.node]);

	const hit = (event: MouseEvent): number | null => {
		const rect = canvas.current!.getBoundingClientRect(),
			x = event.clientX - rect.left,
			y = event.clientY - rect.top;
		const depth = isUp ? Math.floor((height - y) / ROW) : Math.floor(y / ROW);
		let found: number | null = null;
		eachNode(tree, view, width, (i, x0, x1, d) => {
			if (d === depth && x >= x0 && x < Math.max(x1, x0 + 1)) found = i;
		});
		return found;
	};
	const keys = (event: KeyboardEvent): void => {
		const now = focus ?? zoom ?? tree.roots[0] ?? null;
		if (event.key === 'Escape' && zoom !== null) {
			const parent = tree.answer.parent[zoom]!;
			onZoom(parent >= 0 ? parent : null);
		} else if (now !== null && event.key === 'Enter') onZoom(now);
		else if (now !== null && event.key.startsWith('Arrow')) {
			const parent = tree.answer.parent[now]!,
				siblings = parent >= 0 ? tree.children[parent]! : tree.roots,
				at = siblings.indexOf(now);
			const inward = isUp ? 'ArrowUp' : 'ArrowDown',
				outward = isUp ? 'ArrowDown' : 'ArrowUp';
			const next =
				event.key === inward
					? tree.children[now]![0]
					: event.key === outward
						? parent >= 0
							? parent
							: undefined
						: siblings[at + (event.key === 'ArrowRight' ? 1 : -1)];
			setFocus(focus === null ? now : (next ?? now));
		} else return;
		event.preventDefault();
		event.stopPropagation();
	};
	const spoken =
		focus === null
			? ''
			: `${tree.answer.names[tree.answer.name[focus]!]}, ${valueText(tree, tree.answer.value[focus]!)}`;

	return (
		<div class="flame" ref={box} tabIndex={0} role="application" aria-label={label} onKeyDown={keys}>
			<canvas
				ref={canvas}
				style={{ width: `${width}px`, height: `${height}px` }}
				onMouseMove={event => {
					const node = hit(event),
						rect = canvas.current!.getBoundingClientRect();
					setHover(
						node === null
							? null
							: {
									node,
									x: event.clientX - rect.left,
									y: event.clientY - rect.top,
								},
					);
				}}
				onMouseLeave={() => setHover(null)}
				onClick={event => {
					const node = hit(event);
					setFocus(node);
					onZoom(node === zoom ? null : node);
				}}
				onDblClick={event => {
					const node = hit(event);
					if (node !== null) onName?.(tree.answer.names[tree.answer.name[node]!]!);
				}}
			/>
			{hover && <Tip tree={tree} width={width} {...hover} />}
			<p class="hidden-text" aria-live="polite">
				{spoken}
			</p>
		</div>
	);
}
