// Runs beside each other, and where they differ the most.
import * as format from '../data/format';
import { column } from '../data/breakdown';
import type { Result, Table } from '../data/result';
import { Bars, type Bar } from './stack';

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

// The largest differences of a table that has them, each with its range.
function Largest({ table }: { table: Table }) {
	const at = (key: string): number => column(table, key);
	if (at('diff_ns') < 0 || at('name') < 0) return null;
	const bars = table.rows
		.map((row): Bar & { verdict: string } => {
			const value = numberOf(row[at('diff_ns')]) ?? 0,
				before = numberOf(row[at('a_ns')]),
				percent = numberOf(row[at('change_percent')]);
			const edge = (key: string): number | null => {
				const share = numberOf(row[at(key)]);
				return before !== null && share !== null && Math.abs(share) < 1e4
					? (before * share) / 100
					: null;
			};
			const verdict = String(row[at('verdict')] ?? '');
			return {
				name: String(row[at('name')]),
				value,
				low: edge('low_percent'),
				high: edge('high_percent'),
				verdict,
				hue: verdict === 'unsure' ? 7 : value > 0 ? 1 : 0,
				text: `${value > 0 ? '+' : '-'}${format.ns(Math.abs(value))}${percent !== null ? `  ${percent > 0 ? '+' : '-'}${format.percent(Math.abs(percent))} %` : ''}  ${verdict}`,
			};
		})
		.filter(bar => bar.value !== 0)
		.sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
		.slice(0, 16);
	return bars.length ? (
		<section class="block">
			<h2>Largest differences: {(table.title ?? table.key).toLowerCase()}</h2>
			<Bars bars={bars} label={`Differences of ${table.key}; the table below has the numbers`} />
		</section>
	) : null;
}

function Runs({ result }: { result: Result }) {
	const runs = result.tables.find(table => table.key === 'runs');
	if (!runs || column(runs, 'median_ns') < 0) return null;
	const mid = column(runs, 'median_ns'),
		noise = column(runs, 'noise_percent');
	const bars: Bar[] = runs.rows.map((row, i) => {
		const value = numberOf(row[mid]) ?? 0,
			share = numberOf(row[noise]);
		return {
			name: `${row[column(runs, 'run')] ?? i}  ${row[column(runs, 'name')] ?? ''}`,
			value,
			low: share === null ? null : value * (1 - share / 100),
			high: share === null ? null : value * (1 + share / 100),
			text: format.ns(value),
			hue: i % 8,
		};
	});
	return (
		<section class="block">
			<h2>Median, with its noise</h2>
			<Bars bars={bars} label="Median of each run" />
		</section>
	);
}

export function Differences({ result }: { result: Result }) {
	const layers = result.tables.find(table => table.rows.length > 0 && column(table, 'diff_ns') >= 0);

	return (
		<>
			<Runs result={result} />
			{layers && <Largest table={layers} />}
		</>
	);
}
