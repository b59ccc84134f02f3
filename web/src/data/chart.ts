// From a table with a chart to what uPlot draws: one x, aligned series.
import type { Table } from './result';

export interface Series {
	name: string;
	values: (number | null)[];
}
export interface ChartData {
	x: number[];
	series: Series[];
	xType: string;
	yType: string;
	xName: string;
	yName: string;
	kind: 'line' | 'steps' | 'bars';
}

const MAX_SERIES = 12;

export function chartOf(table: Table): ChartData | null {
	const { chart, columns } = table;
	if (!chart) return null;
	const x = columns.findIndex(column => column.key === chart.x),
		y = columns.findIndex(column => column.key === chart.y);
	const by = chart.series ? columns.findIndex(column => column.key === chart.series) : -1;
	if (x < 0 || y < 0) return null;
	const xs = [...new Set(table.rows.map(row => row[x]).filter((v): v is number => typeof v === 'number'))].sort(
		(a, b) => a - b,
	);
	if (xs.length < 2) return null;
	const at = new Map(xs.map((v, i) => [v, i]));
	const lines = new Map<string, (number | null)[]>();
	for (const row of table.rows) {
		const name = by < 0 ? columns[y]!.header : String(row[by] ?? '-');
		let line = lines.get(name);
		if (!line) {
			if (lines.size >= MAX_SERIES) continue;
			lines.set(name, (line = new Array<number | null>(xs.length).fill(null)));
		}
		const i = typeof row[x] === 'number' ? at.get(row[x] as number) : undefined;
		if (i !== undefined && typeof row[y] === 'number') line[i] = row[y] as number;
	}
	const series = [...lines].map(([name, values]) => ({
		name: by < 0 ? name : `${columns[by]!.header} ${name}`,
		values,
	}));
	if (chart.kind === 'steps') for (const one of series) hold(one.values);
	return {
		x: xs,
		series,
		kind: chart.kind,
		xType: columns[x]!.type,
		yType: columns[y]!.type,
		xName: columns[x]!.header,
		yName: columns[y]!.header,
	};
}

// A value holds until the next.
function hold(values: (number | null)[]): void {
	let last: number | null = null;
	values.forEach((v, i) => {
		last = v ?? last;
		values[i] = last;
	});
}
