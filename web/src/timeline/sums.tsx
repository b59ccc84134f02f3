// What a range of time sums up to, by name and by track.
import { useMemo, useState } from 'preact/hooks';
import * as format from '../data/format';
import { tableOf, type Column, type Table } from '../data/result';
import { copy, go, link, sessionPath, show } from '../state/app';
import { query } from '../state/api';
import { useFetch } from '../state/fetch';
import { TableView } from '../parts/table';
import { Failed } from '../parts/empty';
import { NoteButton } from './details';
import { trackLabel } from './layout';
import type { Range, Store } from './store';
import { fit } from './viewport';

interface NameSum {
	name: string;
	class: string;
	n_slices: number;
	total_ns: number;
	self_ns: number;
	min_ns: number;
	max_ns: number;
}
interface TrackSum {
	track: number;
	n_slices: number;
	covered_ns: number | null;
}
interface Aggregate {
	n_names: number;
	names: NameSum[];
	tracks: TrackSum[];
}

const columns = (list: [string, string, string][]): Column[] =>
	list.map(([key, header, type]) => ({ key, header, type, bar: key === 'percent' }) as Column);
const NAMES = columns([
	['name', 'name', 'string'],
	['n_slices', 'calls', 'count'],
	['total_ns', 'total', 'ns'],
	['self_ns', 'self', 'ns'],
	['percent', 'of the range', 'percent'],
	['avg_ns', 'avg', 'ns'],
	['min_ns', 'min', 'ns'],
	['max_ns', 'max', 'ns'],
]);
const TRACKS = columns([
	['name', 'track', 'string'],
	['n_slices', 'slices', 'count'],
	['covered_ns', 'covered', 'ns'],
	['percent', 'of the range', 'percent'],
]);

function byName(data: Aggregate, length: number): Table {
	const rows = data.names
		.filter(sum => sum.n_slices > 0)
		.map(sum => ({
			...sum,
			percent: (100 * sum.total_ns) / length,
			avg_ns: Math.round(sum.total_ns / sum.n_slices),
		}));
	return {
		...tableOf('names', rows, { key: 'names', columns: NAMES }),
		title: data.n_names > rows.length ? `The longest of ${format.plural(data.n_names, 'name')}` : 'Names',
	};
}

function byTrack(data: Aggregate, length: number, store: Store): Table {
	const known = new Map(store.tracks.peek()?.tracks.map(track => [track.id, track]));
	const label = (id: number): string => {
		const track = known.get(id);
		return track
			? trackLabel(track) + (track.rank !== null && track.rank >= 0 ? `, rank ${track.rank}` : '')
			: `track ${id}`;
	};
	const rows = data.tracks
		.filter(sum => sum.n_slices > 0)
		.map(sum => ({
			...sum,
			name: label(sum.track),
			percent: sum.covered_ns === null ? null : (100 * sum.covered_ns) / length,
		}));
	return { ...tableOf('tracks', rows, { key: 'tracks', columns: TRACKS }), title: 'Tracks' };
}

export function RangeDetails({ range, store }: { range: Range; store: Store }) {
	const [isByTrack, setByTrack] = useState(false);
	const where = sessionPath.value;
	const { data, error } = useFetch<Aggregate>(
		where && `${where}/aggregate` + query({ from: range.from, to: range.to }),
	);
	const tables = useMemo(() => {
		const length = Math.max(1, range.to - range.from);
		return data && { names: byName(data, length), tracks: byTrack(data, length, store) };
	}, [data]);
	const table = tables && (isByTrack ? tables.tracks : tables.names);

	return (
		<div class="range">
			<div class="tool-row">
				<h2>{format.ns(range.to - range.from)}</h2>
				<span class="quiet">
					from {format.at(range.from, 1)} to {format.at(range.to, 1)}
					{data
						? `, ${format.plural(
								data.tracks.reduce(
									(sum, track) => sum + track.n_slices,
									0,
								),
								'slice',
							)}`
						: ''}
				</span>
				<div class="group" role="group" aria-label="Sum up">
					<button aria-pressed={!isByTrack} onClick={() => setByTrack(false)}>
						by name
					</button>
					<button aria-pressed={isByTrack} onClick={() => setByTrack(true)}>
						by track
					</button>
				</div>
				<button onClick={() => store.move(fit(range.from, range.to, store.end.peek(), 0))}>
					zoom <kbd>F</kbd>
				</button>
				<NoteButton store={store} />
				<button
					onClick={() =>
						show('flame', { from: String(range.from), to: String(range.to) })
					}
				>
					flame graph
				</button>
				<button onClick={() => copy(link({}), 'a link to this view')}>copy link</button>
			</div>
			{error ? (
				<Failed title="The sums could not be loaded" text={error} />
			) : (
				table && (
					<TableView
						table={table}
						maxHeight={4000}
						isBare={false}
						onRow={row => !isByTrack && go({ q: String(table.rows[row]![0]) })}
						rowTitle="Find all of this name"
					/>
				)
			)}
		</div>
	);
}
