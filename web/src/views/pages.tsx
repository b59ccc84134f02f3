// Views that are several analyses one beside the other.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import * as format from '../data/format';
import { column, find, partsOf } from '../data/breakdown';
import type { Result, Table } from '../data/result';
import { facts, go, param } from '../state/app';
import { Empty, Failed, Waiting } from '../parts/empty';
import { ResultView, useReport } from '../parts/report';
import { Bars, Stacks, type Bar } from '../parts/stack';

interface Part {
	id: string;
	title: string;
	path: string;
	about: string;
	only?: string[]; // tables of a larger analysis; nothing else of it is shown
	command?: string; // what would record them
}

function Choice({ parts, now }: { parts: Part[]; now: Part }) {
	return parts.length < 2 ? null : (
		<div class="group sub-tabs" role="group" aria-label="Part">
			{parts.map(part => (
				<button
					key={part.id}
					aria-pressed={part === now}
					title={part.about}
					onClick={() => go({ part: part.id }, true)}
				>
					{part.title}
				</button>
			))}
		</div>
	);
}

function only(result: Result, part: Part): Result {
	if (!part.only) return result;
	const tables = result.tables.filter(table => part.only!.includes(table.key) && table.rows.length > 0);
	return { headline: part.about, values: [], tables, findings: null, notes: [] };
}

// One analysis at a time, with something drawn above its tables. first: the one to begin with, where it is not the first.
export function parts(
	list: Part[],
	above?: (tables: Table[], part: Part, result: Result) => ComponentChildren,
	first?: () => string | null,
) {
	return function Parts() {
		const wanted = param('part') || first?.();
		const now = list.find(part => part.id === wanted) ?? list[0]!;
		const { data, error, result: whole, path, isLoading } = useReport(now.path);
		const result = useMemo(() => whole && only(whole, now), [whole, now]);
		const isStale = isLoading && path !== null && !path.includes(now.path);

		return (
			<>
				<Choice parts={list} now={now} />
				{error ? (
					<Failed title={now.title} text={error} />
				) : data?.available === false ? (
					<Empty
						title={now.title}
						text={data.reason ?? now.about}
						command={data.command ?? null}
					/>
				) : !result || isStale ? (
					<Waiting text={null} />
				) : now.only && !result.tables.length ? (
					<Empty
						title={now.title}
						text="The trace has no such data."
						command={now.command ?? null}
					/>
				) : (
					<ResultView result={result} title={now.about}>
						{above?.(result.tables, now, result)}
					</ResultView>
				)}
			</>
		);
	};
}

// Bars with an error where a table has a mean and its spread.
export function errorBars(tables: Table[]): ComponentChildren {
	const table = tables.find(one => column(one, 'std_ns') >= 0 && column(one, 'avg_ns') >= 0);
	if (!table) return null;
	const mean = column(table, 'avg_ns'),
		std = column(table, 'std_ns'),
		name = Math.max(0, column(table, 'name'), column(table, 'layer'));
	const bars: Bar[] = table.rows
		.filter(row => typeof row[mean] === 'number')
		.map(row => {
			const value = row[mean] as number,
				spread = typeof row[std] === 'number' ? (row[std] as number) : null;
			return {
				name: String(row[name] ?? '-'),
				value,
				low: spread === null ? null : Math.max(0, value - spread),
				high: spread === null ? null : value + spread,
				text: format.ns(value) + (spread === null ? '' : ` ± ${format.ns(spread)}`),
				hue: 0,
			};
		})
		.sort((a, b) => b.value - a.value)
		.slice(0, 20);
	return bars.length ? (
		<section class="block">
			<h2>Mean time of a call, with its standard deviation</h2>
			<Bars bars={bars} label="Mean time by name; the table below has the numbers" />
		</section>
	) : null;
}

function Ranks() {
	const { result } = useReport('/report/temporal');
	const list = useMemo(() => {
		const table = find(result, 'temporal');
		return table ? partsOf(table) : [];
	}, [result]);

	return list.length < 2 ? null : (
		<section class="block">
			<h2>Time by rank</h2>
			<Stacks list={list} />
		</section>
	);
}

const KERNELS: Part[] = [
	{ id: 'kernels', title: 'kernels', path: '/kernels', about: 'Device time by name' },
	{
		id: 'operators',
		title: 'operators',
		path: '/report/operators',
		about: 'Time of operators on the host and on the device',
	},
	{ id: 'names', title: 'all names', path: '/report/report', about: 'Time by name' },
	{ id: 'occupancy', title: 'occupancy', path: '/report/occupancy', about: 'Blocks per SM and occupancy of kernels' },
	{
		id: 'short',
		title: 'short kernels',
		path: '/report/short_kernels',
		about: 'Kernels shorter than their launch',
	},
	{
		id: 'launches',
		title: 'launches',
		path: '/report/launches',
		about: 'Time of launches, and launch delays',
	},
	{
		id: 'annotations',
		title: 'annotations',
		path: '/report/annotations',
		about: 'Annotations of the program',
	},
];
// Without a device there still are names.
export const Kernels = parts(KERNELS, undefined, () => (facts.value?.has_device === false ? 'names' : null));

export const Layers = parts(
	[
		{
			id: 'layers',
			title: 'layers',
			path: '/report/report',
			about: 'Time of each layer of the model',
			only: ['layers', 'layer_history'],
			command: 'torch.profiler.profile(with_modules=True, with_stack=True)',
		},
		{ id: 'modules', title: 'as a tree', path: '/layers', about: 'Time of nn.Modules, as a tree' },
	],
	errorBars,
);

export const Gpu = parts([
	{ id: 'gpu', title: 'utilization', path: '/gpu', about: 'Utilization, memory, temperature and power' },
	{ id: 'idle', title: 'idle', path: '/report/idle', about: 'Causes of idle streams' },
	{ id: 'bandwidth', title: 'bandwidth', path: '/report/bandwidth', about: 'Bandwidth of copies and memsets' },
	{ id: 'queue', title: 'queues', path: '/report/queue', about: 'Queue length of launched work' },
]);

export const Distributed = parts(
	[
		{ id: 'distributed', title: 'ranks', path: '/distributed', about: 'The ranks side by side' },
		{
			id: 'stragglers',
			title: 'stragglers',
			path: '/report/stragglers',
			about: 'The rank that the others wait for',
		},
		{
			id: 'overlap',
			title: 'overlap',
			path: '/report/overlap',
			about: 'Share of communication hidden behind computation',
		},
	],
	(_, part) => (part.id === 'distributed' ? <Ranks /> : null),
);

export const Compile = parts([
	{ id: 'compile', title: 'Compile', path: '/compile', about: 'Compiled time and the cost of compilation' },
]);
