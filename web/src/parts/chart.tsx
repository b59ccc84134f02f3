// A chart by uPlot, in the page's colors, with a table one click away.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import * as format from '../data/format';
import type { ChartData } from '../data/chart';
import { isDark } from '../state/app';

export const SERIES = 8;
const MAX_LABEL = 72;
const css = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const textOf =
	(type: string) =>
	(v: number | null): string =>
		v === null || v === undefined
			? '-'
			: type === 'ns'
				? format.ns(v)
				: type === 'bytes'
					? format.bytes(v)
					: type === 'percent'
						? `${format.percent(v)} %`
						: Number.isInteger(v)
							? format.count(v)
							: format.number(v);

const BYTE_STEPS = Array.from({ length: 50 }, (_, i) => 2 ** i);

interface Props {
	data: ChartData;
	height?: number;
	label: string;
	shade?: [number, number] | null; // of x: warm-up
	fromZero?: boolean;
	onClick?: (index: number) => void;
	area?: boolean;
}

function axes(data: ChartData): uPlot.Axis[] {
	const look = {
		stroke: css('--quiet'),
		grid: { stroke: css('--faint'), width: 1 },
		ticks: { stroke: css('--line'), width: 1, size: 4 },
		font: '11px system-ui, "Noto Sans", "DejaVu Sans", sans-serif',
	};
	return [
		{
			...look,
			values: (_, splits) =>
				splits.map(v =>
					data.xType === 'integer' || data.xType === 'count'
						? Number.isInteger(v)
							? format.count(v)
							: ''
						: textOf(data.xType)(v),
				),
			size: 28,
		},
		{
			...look,
			size: 72,
			values: (_, splits) => splits.map(textOf(data.yType)),
			...(data.yType === 'bytes' ? { incrs: BYTE_STEPS } : {}),
		},
	];
}

// Several series have their bars side by side at each x.
function barsOf(data: ChartData, series: number): uPlot.Series.PathBuilder {
	const n = data.series.length;
	if (n === 1) return uPlot.paths.bars!({ size: [0.85, 64] });
	const step = data.x.reduce((least, x, i) => (i ? Math.min(least, x - data.x[i - 1]!) : least), Infinity),
		width = (0.85 * step) / n;
	return uPlot.paths.bars!({
		disp: {
			x0: { unit: 1, values: () => data.x.map(x => x + (series - n / 2) * width) },
			size: { unit: 1, values: () => [width] },
		},
	});
}

function seriesOf(data: ChartData, area: boolean): uPlot.Series[] {
	return data.series.map((one, i) => {
		const color = css(`--s${i % SERIES}`);
		const base: uPlot.Series = {
			label: format.middle(one.name, MAX_LABEL),
			stroke: color,
			width: 1.5,
			points: { show: false },
			spanGaps: data.kind !== 'bars',
			value: (_, v, __, at) => (at === null ? '' : textOf(data.yType)(v)),
		};
		if (data.kind === 'bars')
			return {
				...base,
				fill: color + 'cc',
				width: 0,
				paths: barsOf(data, i),
			};
		if (area) base.fill = color + '30';
		return data.kind === 'steps' ? { ...base, paths: uPlot.paths.stepped!({ align: 1 }) } : base;
	});
}

function shadeOf(range: [number, number]): uPlot.Plugin {
	return {
		hooks: {
			drawClear: plot => {
				const { left, top, width, height } = plot.bbox;
				const a = Math.max(left, plot.valToPos(range[0], 'x', true)),
					b = Math.min(left + width, plot.valToPos(range[1], 'x', true));
				plot.ctx.fillStyle = css('--faint');
				if (b > a) plot.ctx.fillRect(a, top, b - a, height);
			},
		},
	};
}

export function ChartView({ data, height = 220, label, shade, fromZero = true, onClick, area = false }: Props) {
	const box = useRef<HTMLDivElement>(null);
	const [width, setWidth] = useState(0);
	const dark = isDark.value;

	useEffect(() => {
		const watch = new ResizeObserver(entries => setWidth(Math.floor(entries[0]!.contentRect.width)));
		watch.observe(box.current!);
		return () => watch.disconnect();
	}, []);
	// Before anything is painted, also on paper.
	useLayoutEffect(() => {
		if (width < 80) return undefined;
		const isBars = data.kind === 'bars';
		const plot = new uPlot(
			{
				width,
				height,
				legend: { show: data.series.length > 1 || data.x.length > 0, live: true },
				cursor: { y: false, points: { size: 6 }, drag: { x: true, y: false } },
				scales: {
					x: {
						time: false,
						...(isBars
							? {
									range: (
										_: uPlot,
										lo: number,
										hi: number,
									): [number, number] => [lo - 0.5, hi + 0.5],
								}
							: {}),
					},
					y: {
						range: (_, lo, hi) =>
							lo === null || hi === null
								? [0, 1]
								: [
										fromZero ? Math.min(0, lo) : lo,
										hi +
											(hi - (fromZero ? 0 : lo)) *
												0.08 || 1,
									],
					},
				},
				axes: axes(data),
				series: [
					{
						label: format.middle(data.xName, MAX_LABEL),
						value: (_, v, __, at) => (at === null ? '' : textOf(data.xType)(v)),
					},
					...seriesOf(data, area),
				],
				plugins: shade ? [shadeOf(shade)] : [],
			},
			[data.x, ...data.series.map(one => one.values)] as uPlot.AlignedData,
			box.current!,
		);
		const click = (): void => {
			if (onClick && plot.cursor.idx !== null && plot.cursor.idx !== undefined)
				onClick(plot.cursor.idx);
		};
		plot.over.addEventListener('click', click);
		if (onClick) plot.over.classList.add('clickable');
		return () => plot.destroy();
	}, [data, width, height, dark, shade?.[0], shade?.[1]]);
	return (
		<figure class="chart" role="img" aria-label={label} style={{ minHeight: `${height + 32}px` }}>
			<div ref={box} />
		</figure>
	);
}
