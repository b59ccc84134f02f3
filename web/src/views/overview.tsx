// One screen about the run, in reading order: what it was, what to change, step by step, where a step goes, memory, what is known.
import { useMemo } from 'preact/hooks';
import * as format from '../data/format';
import { column, find, median, rolesOf, stepTimes, total, type StepTime } from '../data/breakdown';
import type { ChartData } from '../data/chart';
import { tableOf, type Result, type Table } from '../data/result';
import { facts, session, show } from '../state/app';
import { ChartView } from '../parts/chart';
import { Empty, Failed, Waiting } from '../parts/empty';
import { Findings } from '../parts/findings';
import { Notes, rowAction, useReport } from '../parts/report';
import { Legend, Stack } from '../parts/stack';
import { TableView } from '../parts/table';

const valueOf = (result: Result | null, key: string): number | null => {
	const found = result?.values.find(([name]) => name === key)?.[1];
	return typeof found === 'number' ? found : null;
};

function sentenceOf(summary: Result | null, steps: StepTime[], bottlenecks: Result | null): string {
	const parts = [`${facts.value!.name} ran ${format.ns(facts.value!.duration_ns)}`];
	const ranks = valueOf(summary, 'n_ranks'),
		threads = valueOf(summary, 'n_threads'),
		mid = median(steps.map(step => step.ns));
	if (ranks && ranks > 1) parts.push(`on ${format.plural(ranks, 'rank')}`);
	else if (threads) parts.push(`on ${format.plural(threads, 'thread')}`);
	if (steps.length > 1 && mid !== null)
		parts.push(`in ${format.plural(steps.length, 'step')} of ${format.ns(mid)} (median)`);
	const findings = bottlenecks?.findings ?? [],
		lost = findings.reduce((sum, finding) => Math.max(sum, finding.seconds_lost ?? 0), 0);
	const tail = !bottlenecks
		? ''
		: !findings.length
			? ' No findings.'
			: ` ${format.plural(findings.length, 'finding')}, the first worth up to ${format.ns(lost * 1e9)}.`;
	return parts.join(' ') + '.' + tail;
}

function Steps({ table, times, nWarmup }: { table: Table; times: StepTime[]; nWarmup: number }) {
	const data = useMemo(
		(): ChartData => ({
			x: times.map(step => step.step),
			series: [{ name: 'step time', values: times.map(step => step.ns) }],
			kind: times.length > 400 ? 'line' : 'bars',
			xType: 'integer',
			yType: 'ns',
			xName: 'step',
			yName: 'time',
		}),
		[times],
	);
	const mid = median(times.map(step => step.ns)) ?? 0,
		slow = times.filter(step => step.ns > 1.5 * mid).sort((a, b) => b.ns - a.ns);

	return (
		<section class="block">
			<h2>Step time</h2>
			<p class="quiet">
				{format.plural(times.length, 'step')}, median {format.ns(mid)}
				{slow.length
					? `; ${format.plural(slow.length, 'step')} took more than 1.5 times as long, the slowest `
					: ''}
				{slow.length > 0 && (
					<button
						class="link"
						onClick={() => show('timeline', { step: String(slow[0]!.step) })}
					>
						step {slow[0]!.step} with {format.ns(slow[0]!.ns)}
					</button>
				)}
				.{nWarmup > 0 && ` The first ${format.plural(nWarmup, 'step')} warm up and are shaded.`}{' '}
				Click one to see it.
			</p>
			<ChartView
				data={data}
				label="Time of each step; the table below has the numbers"
				shade={nWarmup ? [times[0]!.step - 0.5, times[0]!.step + nWarmup - 0.5] : null}
				onClick={i => show('timeline', { step: String(times[i]!.step) })}
			/>
			<details>
				<summary>table</summary>
				<TableView table={table} onRow={rowAction(table)} maxHeight={320} />
			</details>
		</section>
	);
}

function WhereTimeGoes({ roles, summary }: { roles: Result | null; summary: Result | null }) {
	const table = find(roles, 'roles'),
		list = table ? rolesOf(table) : [],
		sum = total(list);

	if (sum && sum.parts[0]!.ns > 0)
		return (
			<section class="block">
				<h2>Step time by part</h2>
				{list.length > 1 &&
					list.map(one => (
						<div key={one.rank} class="rank-row">
							<span>rank {one.rank}</span>
							<Stack
								parts={one.parts}
								span={one.span}
								label={`rank ${one.rank}`}
							/>
						</div>
					))}
				{list.length === 1 && <Stack parts={sum.parts} span={sum.span} label="A step's time" />}
				<Legend parts={sum.parts} span={sum.span} />
			</section>
		);
	const top = find(summary, 'top') ?? find(summary, 'names');
	if (!top?.rows.length) return null;
	return (
		<section class="block">
			<TableView
				table={{ ...top, title: 'Most time in' }}
				onRow={rowAction(top)}
				rowTitle="Show it in the timeline"
			/>
		</section>
	);
}

function Memory({ summary }: { summary: Result | null }) {
	const memory = find(summary, 'memory');

	if (!memory?.rows.length)
		return (
			<section class="block">
				<h2>Memory</h2>
				<p class="quiet">
					No memory was recorded. PyTorch: <code>profile(profile_memory=True)</code>; own
					programs: <code>sonde_alloc()</code>.
				</p>
			</section>
		);
	const device = column(memory, 'device'),
		peak = column(memory, 'peak_bytes'),
		at = column(memory, 'peak_at_ns'),
		where = column(memory, 'peak_in');
	const rows = memory.rows.slice(0, 8).map(row => ({
		device: row[device],
		peak_bytes: row[peak],
		at_ns: row[at] ?? null,
		in: row[where] ?? null,
	}));
	return (
		<section class="block">
			<TableView
				table={{ ...tableOf('peak', rows), title: 'Peak memory' }}
				onRow={() => show('memory')}
				rowTitle="Memory over time"
			/>
		</section>
	);
}

function Recorded({ summary }: { summary: Result }) {
	const lost = valueOf(summary, 'n_lost'),
		emitted = valueOf(summary, 'n_emitted'),
		repaired = valueOf(summary, 'n_repaired_total');

	// Metadata of other tools comes as it is; remarks of ours are lower case words.
	const raw = summary.notes.filter(note => /[A-Z_]/.test(note.label)),
		told = summary.notes.filter(
			note => !raw.includes(note) && !['next', 'memory', 'events'].includes(note.label),
		);

	return (
		<section class="block">
			<h2>Recording</h2>
			<p>
				{emitted === null
					? format.plural(facts.value!.n_slices ?? 0, 'slice')
					: format.plural(emitted, 'event')}
				{lost === null
					? ''
					: lost
						? `, of which ${format.count(lost)} were lost`
						: ', none lost'}
				{repaired ? `, ${format.count(repaired)} repaired` : ''}
				{session.value?.size_bytes ? `, ${format.bytes(session.value.size_bytes)} on disk` : ''}
				.
			</p>
			<Notes result={{ ...summary, notes: told }} />
			{raw.length > 0 && (
				<details>
					<summary>metadata of the trace</summary>
					<Notes result={{ ...summary, notes: raw }} />
				</details>
			)}
		</section>
	);
}

export function Overview() {
	const summary = useReport('/report/summary'),
		bottlenecks = useReport('/bottlenecks'),
		steps = useReport('/report/steps'),
		roles = useReport('/report/roles');
	const stepTable = find(steps.result, 'steps');
	const times = useMemo(() => (stepTable ? stepTimes(stepTable) : []), [stepTable]);

	if (summary.error) return <Failed title="Overview" text={summary.error} />;
	if (summary.data?.available === false)
		return (
			<Empty
				title="Overview"
				text={
					facts.value?.n_slices === 0
						? 'The trace is empty: no slice was recorded, or the file ends before the first one.'
						: (summary.data.reason ?? 'The trace is empty.')
				}
				command={summary.data.command ?? 'sonde record -- ./train'}
			/>
		);
	if (!summary.result) return <Waiting text={null} />;
	return (
		<>
			<h1>{sentenceOf(summary.result, times, bottlenecks.result)}</h1>
			{session.value?.state === 'live' && (
				<p class="quiet">The program is still running; the numbers cover the recording so far.</p>
			)}
			{bottlenecks.result?.findings && bottlenecks.result.findings.length > 0 && (
				<section class="block">
					<h2>Findings</h2>
					<Findings findings={bottlenecks.result.findings} limit={5} />
					{bottlenecks.result.findings.length > 5 && (
						<button class="link" onClick={() => show('bottlenecks')}>
							all {bottlenecks.result.findings.length}
						</button>
					)}
				</section>
			)}
			{stepTable && times.length > 1 && (
				<Steps
					table={stepTable}
					times={times}
					nWarmup={valueOf(steps.result, 'n_warmup_steps') ?? 0}
				/>
			)}
			<WhereTimeGoes roles={roles.result} summary={summary.result} />
			<Memory summary={summary.result} />
			<Recorded summary={summary.result} />
		</>
	);
}
