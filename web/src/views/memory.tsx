// Memory over time, device by device; the peak and what it was made of; what was never freed.
import { useMemo } from 'preact/hooks';
import * as format from '../data/format';
import { find } from '../data/breakdown';
import type { ChartData } from '../data/chart';
import { tableOf, type Table } from '../data/result';
import { sessionPath, show } from '../state/app';
import { useFetch } from '../state/fetch';
import { ChartView } from '../parts/chart';
import { Empty, Failed, Waiting } from '../parts/empty';
import { Notes, ResultTable, rowAction, sentenceCase, useReport } from '../parts/report';
import { TableView } from '../parts/table';

interface Device {
	name: string;
	rank: number | null;
	max: (number | null)[]; // the most in each pixel
	peak_bytes: number | null;
	peak_ns: number | null;
	end_bytes: number | null;
	n_allocations: number;
	n_frees: number;
	composition: { name: string | null; n_blocks: number; bytes: number }[] | null;
	composition_reason?: string | null; // why there is none
	other_bytes: number | null;
	unknown_bytes: number | null;
	is_total_known: boolean;
}
interface Answer {
	available?: boolean;
	reason?: string;
	command?: string;
	duration_ns?: number;
	devices?: Device[];
}

const PX = 1200;
const OUTSIDE = 'outside all scopes';

// The blocks that were live at the peak, by what allocated them.
function compositionOf(device: Device): Table | null {
	const all = device.peak_bytes || 1;
	const rows: Record<string, unknown>[] = (device.composition ?? []).map(one => ({
		name: one.name ?? OUTSIDE,
		n_blocks: one.n_blocks,
		bytes: one.bytes,
		percent: (100 * one.bytes) / all,
	}));
	for (const [name, bytes] of [
		['others', device.other_bytes],
		['allocated before the recording, or unknown', device.unknown_bytes],
	] as const)
		if (bytes) rows.push({ name, n_blocks: null, bytes, percent: (100 * bytes) / all });
	return rows.length ? { ...tableOf('composition', rows), title: 'Composition of the peak' } : null;
}

function DeviceView({ device, end }: { device: Device; end: number }) {
	const values = device.max;
	const data = useMemo(
		(): ChartData | null =>
			values.length < 2
				? null
				: {
						x: values.map((_, i) => (end * i) / values.length),
						series: [{ name: 'allocated', values }],
						kind: 'steps',
						xType: 'ns',
						yType: 'bytes',
						xName: 'time',
						yName: 'bytes',
					},
		[device],
	);
	const composition = useMemo(() => compositionOf(device), [device]);
	const peakAt = device.peak_ns;

	return (
		<section class="block">
			<h2>
				{device.name}
				{device.rank !== null && device.rank >= 0 ? `, rank ${device.rank}` : ''}
			</h2>
			<p>
				Peak {format.bytes(device.peak_bytes)}
				{peakAt !== null && peakAt !== undefined ? (
					<>
						{' '}
						at{' '}
						<button
							class="link"
							onClick={() =>
								show('timeline', {
									from: String(
										Math.max(
											0,
											Math.round(peakAt - end / 50),
										),
									),
									to: String(Math.round(peakAt + end / 50)),
									range: `${peakAt}..${peakAt}`,
								})
							}
						>
							{format.at(peakAt, Math.max(1, end / 1000))}
						</button>
					</>
				) : null}
				; {format.bytes(device.end_bytes)} at the end.{' '}
				{format.plural(device.n_allocations, 'allocation')},{' '}
				{format.plural(device.n_frees, 'free')}.
				{device.is_total_known
					? ''
					: ' Memory allocated before the recording began is unknown and not included.'}
			</p>
			{data ? (
				<ChartView data={data} area label={`Memory of ${device.name} over time`} />
			) : (
				<p class="quiet">The trace has no memory curve.</p>
			)}
			{data && (
				<details>
					<summary>table</summary>
					<TableView
						maxHeight={280}
						table={tableOf(
							'timeline',
							data.x.map((at_ns, i) => ({
								at_ns: Math.round(at_ns),
								allocated_bytes: values[i] ?? null,
							})),
						)}
					/>
				</details>
			)}
			{device.composition === null && device.composition_reason && (
				<p class="quiet">{device.composition_reason}</p>
			)}
			{device.composition && composition && (
				<TableView table={composition} onRow={rowAction(composition)} maxHeight={360} />
			)}
		</section>
	);
}

function Operators() {
	const { result } = useReport('/report/memory');
	const table = find(result, 'memory_operators');

	return table?.rows.length ? (
		<section class="block">
			<TableView table={table} onRow={rowAction(table)} rowTitle="Show it in the timeline" />
		</section>
	) : null;
}

function Leaks() {
	const { data, result, error } = useReport('/leaks');

	if (error || !data) return null;
	return (
		<section class="block">
			<h2>Never freed</h2>
			{data.available === false ? (
				<p class="quiet">{data.reason}</p>
			) : (
				result && (
					<>
						<p>{sentenceCase(result.headline ?? '')}</p>
						{result.tables
							.filter(table => table.rows.length > 0)
							.map(table => (
								<ResultTable key={table.key} table={table} />
							))}
						<Notes result={result} />
					</>
				)
			)}
		</section>
	);
}

export function Memory() {
	const where = sessionPath.value;
	const { data, error } = useFetch<Answer>(where && `${where}/memory?px=${PX}`);

	if (error) return <Failed title="Memory" text={error} />;
	if (!data) return <Waiting text={null} />;
	if (data.available === false || !data.devices?.length)
		return (
			<Empty
				title="Memory"
				text={data.reason ?? 'The trace has no memory data.'}
				command={data.command ?? 'sonde record --activities cpu,memory -- ./train'}
			/>
		);
	const devices = [...data.devices].sort((a, b) => (b.peak_bytes ?? 0) - (a.peak_bytes ?? 0)),
		most = devices[0]!,
		top = most.composition?.[0];
	return (
		<>
			<h1>
				Memory peaks at {format.bytes(most.peak_bytes)} on {most.name}
				{top && top.bytes > (most.peak_bytes ?? 0) / 2
					? `, most of it by ${format.middle(top.name ?? OUTSIDE, 60)}`
					: ''}
				.
			</h1>
			{devices.map(device => (
				<DeviceView
					key={device.name + device.rank}
					device={device}
					end={data.duration_ns ?? 1}
				/>
			))}
			<Operators />
			<Leaks />
		</>
	);
}
