// Flame graphs: merged with the heaviest first, in the order of time, or around one name; of one trace or of two.
import { useMemo } from 'preact/hooks';
import * as format from '../data/format';
import { integer } from '../data/address';
import { tableOf, type Column } from '../data/result';
import { facts, filters, go, param, sessionId, sessionPath, sessions } from '../state/app';
import { query } from '../state/api';
import { useFetch } from '../state/fetch';
import type { Tracks } from '../state/types';
import { FlameCanvas, valueText } from '../flame/canvas';
import { Cut, matchText } from '../flame/lines';
import { sumNames, treeOf, type Answer, type Tree } from '../flame/tree';
import { Empty, Failed, Waiting } from '../parts/empty';
import { TableView } from '../parts/table';

const MODES = [
	['merged', 'left-heavy', 'Equal stacks merged, the heaviest first'],
	['ordered', 'time order', 'Each stack where it began'],
	['sandwich', 'sandwich', 'Callers and callees of one name'],
] as const;
const BY = [
	['time', 'time'],
	['self', 'self time'],
	['device', 'device time'],
	['memory', 'memory'],
] as const;

// mode null: nothing is asked.
function useFlame(mode: string | null, name: string) {
	const where = sessionPath.value;
	const path = mode === null || ((mode === 'callers' || mode === 'callees') && !name) ? null : where;
	const fetched = useFetch<Answer>(
		path &&
			`${path}/flame` +
				query({
					by: param('by'),
					mode,
					name,
					thread: param('thread'),
					steps: filters.value.steps,
					from: param('from'),
					to: param('to'),
					with: param('with'),
					python: param('hide') === 'python' ? 'no' : '',
				}),
	);
	const tree = useMemo(
		() =>
			fetched.data && fetched.data.available !== false && fetched.data.parent
				? treeOf(fetched.data)
				: null,
		[fetched.data],
	);

	return { ...fetched, tree };
}

function Tools() {
	const where = sessionPath.value,
		mode = param('mode') || 'merged';
	const tracks =
		useFetch<Tracks>(where && `${where}/tracks`).data?.tracks.filter(track => track.n_slices > 0) ?? [];
	const others = (sessions.value ?? []).filter(one => one.id !== sessionId.value);

	return (
		<div class="tool-row">
			<div class="group" role="group" aria-label="Order">
				{MODES.map(([id, text, about]) => (
					<button
						key={id}
						title={about}
						aria-pressed={
							mode === id ||
							(id === 'sandwich' &&
								(mode === 'callers' || mode === 'callees'))
						}
						onClick={() => go({ mode: id === 'merged' ? '' : id, zoom: '' }, true)}
					>
						{text}
					</button>
				))}
			</div>
			<div class="group" role="group" aria-label="Measure">
				{BY.map(([id, text]) => (
					<button
						key={id}
						aria-pressed={(param('by') || 'time') === id}
						onClick={() => go({ by: id === 'time' ? '' : id, zoom: '' }, true)}
					>
						{text}
					</button>
				))}
			</div>
			<button
				aria-pressed={param('up') === '1'}
				onClick={() => go({ up: param('up') ? '' : '1' })}
				title="The root at the bottom"
			>
				flames up
			</button>
			<button
				aria-pressed={param('hide') === 'python'}
				onClick={() => go({ hide: param('hide') ? '' : 'python', zoom: '' }, true)}
			>
				hide Python
			</button>
			<select
				aria-label="Thread"
				value={param('thread')}
				onChange={event => go({ thread: event.currentTarget.value, zoom: '' }, true)}
			>
				<option value="">all threads</option>
				{tracks.slice(0, 500).map(track => (
					<option key={track.id} value={String(track.id)}>
						{format.middle(
							(track.name ?? `${track.kind} ${track.number ?? track.id}`) +
								(track.rank !== null && track.rank >= 0
									? `, rank ${track.rank}`
									: ''),
							48,
						)}
					</option>
				))}
			</select>
			{others.length > 0 && (
				<select
					aria-label="Compare with"
					value={param('with')}
					onChange={event => go({ with: event.currentTarget.value, zoom: '' }, true)}
				>
					<option value="">compare with</option>
					{others.map(one => (
						<option key={one.id} value={String(one.id)}>
							{format.middle(one.name, 40)}
						</option>
					))}
				</select>
			)}
			{(param('from') || param('to')) && (
				<button onClick={() => go({ from: '', to: '', zoom: '' })}>
					{format.at(integer(param('from')) ?? 0, 1000)} to{' '}
					{format.at(integer(param('to')) ?? facts.value?.duration_ns ?? 0, 1000)} ×
				</button>
			)}
			{param('zoom') && (
				<button onClick={() => go({ zoom: '' })}>
					zoom out <kbd>Esc</kbd>
				</button>
			)}
		</div>
	);
}

const COLUMNS = (tree: Tree): Column[] => {
	const type = tree.answer.unit === 'bytes' ? 'bytes' : 'ns';
	const list: Column[] = [
		{ key: 'name', header: 'name', type: 'string' },
		{ key: 'count', header: 'calls', type: 'count' },
		{ key: 'value', header: 'total', type },
		{ key: 'self', header: 'self', type },
		{ key: 'percent', header: 'self', type: 'percent', bar: true },
	];
	return tree.answer.base
		? [...list, { key: 'base', header: 'before', type }, { key: 'change', header: 'change', type }]
		: list;
};

function Names({ tree }: { tree: Tree }) {
	const table = useMemo(() => {
		const rows = sumNames(tree).map(sum => ({
			...sum,
			percent: (100 * sum.self) / Math.max(1, tree.answer.total),
			change: sum.base === null ? null : sum.value - sum.base,
		}));
		return { ...tableOf('names', rows, { key: 'names', columns: COLUMNS(tree) }), title: 'Names' };
	}, [tree]);

	return (
		<section class="block">
			<TableView
				table={table}
				maxHeight={480}
				rowTitle="Callers and callees"
				onRow={row =>
					go({ mode: 'sandwich', name: String(table.rows[row]![0]), zoom: '' }, true)
				}
			/>
		</section>
	);
}

function Graph({ tree, isUp, label }: { tree: Tree; isUp: boolean; label: string }) {
	return (
		<FlameCanvas
			tree={tree}
			isUp={isUp}
			search={param('q')}
			label={label}
			zoom={integer(param('zoom'))}
			onZoom={node => go({ zoom: node === null ? '' : String(node) }, true)}
			onName={name => go({ mode: 'sandwich', name, zoom: '' }, true)}
		/>
	);
}

function Sandwich({ all }: { all: Tree | null }) {
	const name = param('name');
	const callers = useFlame('callers', name),
		callees = useFlame('callees', name);

	if (!name)
		return (
			<>
				{all && (
					<>
						<p class="quiet">
							Choose a name to see its callers and callees.
						</p>
						<Names tree={all} />
					</>
				)}
			</>
		);
	return (
		<>
			<h2 class="mono">{name}</h2>
			<h3>Callers</h3>
			{callers.error ? (
				<p>{callers.error}</p>
			) : (
				callers.tree && (
					<FlameCanvas
						tree={callers.tree}
						isUp
						search={param('q')}
						label={`Callers of ${name}`}
						zoom={null}
						onZoom={() => undefined}
						onName={next => go({ name: next }, true)}
					/>
				)
			)}
			<h3>Callees</h3>
			{callees.error ? (
				<p>{callees.error}</p>
			) : (
				callees.tree && (
					<FlameCanvas
						tree={callees.tree}
						isUp={false}
						search={param('q')}
						label={`Callees of ${name}`}
						zoom={null}
						onZoom={() => undefined}
						onName={next => go({ name: next }, true)}
					/>
				)
			)}
			{all && <Names tree={all} />}
		</>
	);
}

export function Flame() {
	const mode = param('mode') || 'merged',
		isSandwich = mode === 'sandwich' || mode === 'callers' || mode === 'callees';
	const { data, error, tree } = useFlame(isSandwich ? 'merged' : mode, '');
	// One by one the short ones are left out: the names are summed up over all.
	const merged = useFlame(mode === 'ordered' ? 'merged' : null, '');
	const other = param('with') && sessions.value?.find(one => String(one.id) === param('with'));

	if (error)
		return (
			<>
				<Tools />
				<Failed title="Flame" text={error} />
			</>
		);
	if (data?.available === false)
		return (
			<>
				<Tools />
				<Empty
					title="Flame"
					text={data.reason ?? 'No data.'}
					command={data.command ?? null}
				/>
			</>
		);
	return (
		<>
			<Tools />
			{!tree ? (
				<Waiting text={null} />
			) : tree.n === 0 ? (
				<Empty title="Flame" text="No data for this selection." />
			) : (
				<>
					<p class="flame-line">
						{valueText(tree, tree.answer.total)} in {format.plural(tree.n, 'frame')}
						{other
							? `, compared with ${other.name}: orange is slower than there, blue faster`
							: ''}
						.
						{param('by') === 'device'
							? ' Device time is the time of the kernels that a frame launched.'
							: ''}
						{param('q').trim() ? ` ${matchText(tree, param('q'))}` : ''}
					</p>
					{isSandwich ? (
						<Sandwich all={tree} />
					) : (
						<>
							<Graph
								tree={tree}
								isUp={param('up') === '1'}
								label="Flame graph. Arrows move, Enter zooms; the table below has the numbers."
							/>
							<Cut tree={tree} />
							{(mode !== 'ordered' || merged.tree) && (
								<Names
									tree={mode === 'ordered' ? merged.tree! : tree}
								/>
							)}
						</>
					)}
				</>
			)}
		</>
	);
}
