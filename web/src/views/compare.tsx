// Runs beside each other: which is faster, for sure or perhaps, and what changed.
import * as format from '../data/format';
import { column } from '../data/breakdown';
import type { Result, Table } from '../data/result';
import { go, param, session, sessionId, sessions, show } from '../state/app';
import { Empty, Failed, Waiting } from '../parts/empty';
import { ResultView, useReport } from '../parts/report';
import { Bars, type Bar } from '../parts/stack';

function Choose() {
	const chosen = param('with').split(',').filter(Boolean);
	const others = (sessions.value ?? []).filter(one => one.id !== sessionId.value);
	const toggle = (id: string): void =>
		go(
			{ with: (chosen.includes(id) ? chosen.filter(one => one !== id) : [...chosen, id]).join(',') },
			true,
		);

	return (
		<div class="tool-row">
			<span>{session.value?.name} with</span>
			{others.map(one => (
				<button
					key={one.id}
					aria-pressed={chosen.includes(String(one.id))}
					onClick={() => toggle(String(one.id))}
				>
					{one.name}
				</button>
			))}
			{chosen.length === 1 && (
				<button class="link" onClick={() => show('flame', { with: chosen[0]! })}>
					as a flame graph
				</button>
			)}
		</div>
	);
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

// The largest differences of a table that has them, each with its range.
function Differences({ table }: { table: Table }) {
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

function Body() {
	const { data, error, result } = useReport('/compare', { with: param('with') });

	if (error) return <Failed title="Compare" text={error} />;
	if (data?.available === false)
		return (
			<Empty
				title="Compare"
				text={data.reason ?? 'These cannot be compared.'}
				command={data.command ?? null}
			/>
		);
	if (!result) return <Waiting text={null} />;
	const [layers] = result.tables.filter(table => table.rows.length > 0 && column(table, 'diff_ns') >= 0);
	return (
		<ResultView result={result} title="Comparison">
			<Runs result={result} />
			{layers && <Differences table={layers} />}
		</ResultView>
	);
}

export function Compare() {
	const nOthers = (sessions.value?.length ?? 1) - 1;

	return (
		<>
			<Choose />
			{param('with') ? (
				<Body />
			) : (
				<Empty
					title="Compare"
					text={
						nOthers > 0
							? 'Choose a trace above to compare this one with.'
							: 'There is one trace only. Open another one, or start the server with several.'
					}
					command={nOthers > 0 ? null : 'sonde serve before.sonde after.sonde'}
				/>
			)}
		</>
	);
}
