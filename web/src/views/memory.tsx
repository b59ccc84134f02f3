// Memory over time, device by device; the peak and what it was made of; what was never freed.
import { useMemo } from 'preact/hooks';
import * as format from '../data/format';
import type { ChartData } from '../data/chart';
import { tableOf } from '../data/result';
import { sessionPath, show } from '../state/app';
import { useFetch } from '../state/fetch';
import { ChartView } from '../parts/chart';
import { Empty, Failed, Waiting } from '../parts/empty';
import { ResultView, rowAction, useReport } from '../parts/report';
import { TableView } from '../parts/table';

interface Device {
	device: string;
	from_ns?: number;
	to_ns?: number;
	bytes?: (number | null)[]; // the most in each pixel
	max?: (number | null)[];
	reserved?: (number | null)[] | null;
	peak_bytes: number | null;
	peak_at_ns: number | null;
	peak_in?: string | null;
	composition?: Record<string, unknown>[] | null;
	[more: string]: unknown;
}
interface Answer { available?: boolean; reason?: string; command?: string; px?: number; duration_ns?: number; from_ns?: number; to_ns?: number; devices?: Device[] }

const PX = 1200;

function DeviceView({ device, end }: { device: Device; end: number }) {
	const values = device.bytes ?? device.max ?? [];
	const data = useMemo((): ChartData | null => {
		if (values.length < 2)
			return null;
		const from = device.from_ns ?? 0, to = device.to_ns ?? end;
		const series = [{ name: 'allocated', values }, ...(device.reserved ? [{ name: 'reserved', values: device.reserved }] : [])];
		return { x: values.map((_, i) => from + (to - from) * i / values.length), series, kind: 'steps', xType: 'ns', yType: 'bytes', xName: 'time', yName: 'bytes' };
	}, [device]);
	const composition = useMemo(() => device.composition?.length ? { ...tableOf('composition', device.composition), title: 'What the peak was made of' } : null, [device]);
	const peakAt = device.peak_at_ns;

	return <section class="block">
		<h2>{device.device}</h2>
		<p>Peak {format.bytes(device.peak_bytes)}{peakAt !== null && peakAt !== undefined ? <> at <button class="link" onClick={() => show('timeline', { from: String(Math.max(0, Math.round(peakAt - end / 50))), to: String(Math.round(peakAt + end / 50)), range: `${peakAt}..${peakAt}` })}>{format.at(peakAt, Math.max(1, end / 1000))}</button></> : null}{device.peak_in ? <> in <code>{format.middle(device.peak_in, 80)}</code></> : null}.</p>
		{data ? <ChartView data={data} area label={`Memory of ${device.device} over time`} /> : <p class="quiet">No course of it over time was recorded.</p>}
		{data && <details><summary>table</summary><TableView maxHeight={280} table={tableOf('timeline', data.x.map((at_ns, i) => ({ at_ns: Math.round(at_ns), allocated_bytes: values[i] ?? null })))} /></details>}
		{composition && <TableView table={composition} onRow={rowAction(composition)} maxHeight={360} />}
	</section>;
}

function Leaks() {
	const { data, result, error } = useReport('/leaks');

	if (error || !data)
		return null;
	return <section class="block"><h2>Never freed</h2>{data.available === false ? <p class="quiet">{data.reason}</p> : result && <ResultView result={result} title="Blocks that were never freed" />}</section>;
}

export function Memory() {
	const where = sessionPath.value;
	const { data, error } = useFetch<Answer>(where && `${where}/memory?px=${PX}`);

	if (error)
		return <Failed title="Memory" text={error} />;
	if (!data)
		return <Waiting text={null} />;
	if (data.available === false || !data.devices?.length)
		return <Empty title="Memory" text={data.reason ?? 'No memory was recorded in this trace.'} command={data.command ?? 'sonde record --memory -- ./train'} />;
	const most = [...data.devices].sort((a, b) => (b.peak_bytes ?? 0) - (a.peak_bytes ?? 0))[0]!;
	return <>
		<h1>Memory peaks at {format.bytes(most.peak_bytes)} on {most.device}{most.peak_in ? `, in ${format.middle(most.peak_in, 60)}` : ''}.</h1>
		{data.devices.map(device => <DeviceView key={device.device} device={device} end={data.to_ns ?? data.duration_ns ?? 1} />)}
		<Leaks />
	</>;
}
