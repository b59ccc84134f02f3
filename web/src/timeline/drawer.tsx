// Below the timeline: the slice that is selected, or what a range sums up to.
import { useMemo, useState } from 'preact/hooks';
import * as format from '../data/format';
import { css, siteColor } from '../data/colors';
import { tableOf, type Column, type Table } from '../data/result';
import { copy, go, isDark, link, param, sessionPath, show } from '../state/app';
import { query } from '../state/api';
import { useFetch } from '../state/fetch';
import type { Flow, Slice, SliceRef } from '../state/types';
import { TableView } from '../parts/table';
import { Failed } from '../parts/empty';
import { trackLabel } from './layout';
import type { Range, Store } from './store';
import { fit } from './viewport';

export function Swatch({ name, kind }: { name: string; kind: string }) {
	return <span class="swatch" aria-hidden="true" style={{ background: css(siteColor(name, kind, isDark.value)) }} />;
}

function Link({ store, slice, text }: { store: Store; slice: SliceRef; text?: string }) {
	return <button class="link slice-link" title={slice.name} onClick={() => store.pick(slice)}>
		<Swatch name={slice.name} kind={slice.class} />{text ?? format.middle(slice.name, 64)}<span class="quiet"> {format.ns(slice.dur_ns)}</span>
	</button>;
}

const valueText = (value: unknown): string => typeof value === 'string' ? value : JSON.stringify(value);

const FLOW_TEXT: Record<string, [string, string]> = { launch: ['launched by', 'launches'], fwdbwd: ['forward', 'backward'], flow: ['from', 'to'] };
const flowText = (flow: Flow): string => (FLOW_TEXT[flow.kind] ?? [`${flow.kind} from`, `${flow.kind} to`])[flow.dir === 'in' ? 0 : 1]!;

function Facts({ slice, store }: { slice: Slice; store: Store }) {
	const track = store.tracks.value?.tracks.find(one => one.id === slice.track);
	const rows: [string, string][] = [
		['start', format.at(slice.start_ns, 1)], ['duration', format.ns(slice.dur_ns) + (slice.dur_ns >= 1000 ? `  (${format.count(slice.dur_ns)} ns)` : '')],
		['self', slice.self_ns === null ? '-' : `${format.ns(slice.self_ns)}${slice.dur_ns ? `  (${format.percent(100 * slice.self_ns / slice.dur_ns)} %)` : ''}`],
		['category', `${slice.category || '-'} (${slice.class.replace('_', ' ')})`], ['on', [slice.thread ?? track?.name ?? `track ${slice.track}`, slice.rank !== null && slice.rank >= 0 ? `rank ${slice.rank}` : ''].filter(Boolean).join(', ')],
		['depth', `${slice.depth}, ${format.plural(slice.n_children, 'child', 'children')}`],
	];
	return <dl class="facts">{rows.map(([key, text]) => [<dt key={key}>{key}</dt>, <dd>{text}</dd>])}
		{slice.is_open && [<dt>end</dt>, <dd>It never ended: the trace ended first.</dd>]}
		{slice.is_repaired && [<dt>end</dt>, <dd>Its end was missing and was set to that of the slice around it.</dd>]}
	</dl>;
}

function SliceDetails({ slice, store }: { slice: Slice; store: Store }) {
	const args = Object.entries(slice.args ?? {});
	const nMerged = store.hover.value?.slice === slice.id ? store.hover.value.n : 1;

	return <div class="details">
		<section class="main">
			<h2 class="mono"><Swatch name={slice.name} kind={slice.class} /><span>{format.middle(slice.name, 400)}</span></h2>
			<div class="tool-row">
				<button onClick={() => store.move(fit(slice.start_ns, slice.start_ns + slice.dur_ns, store.end.peek()))}>fit <kbd>F</kbd></button>
				<button onClick={() => store.neighbour('previous', 'name')} aria-label="Previous of the same name">◂ <kbd>[</kbd></button>
				<button onClick={() => store.neighbour('next', 'name')} aria-label="Next of the same name">▸ <kbd>]</kbd></button>
				<button onClick={() => go({ range: `${slice.start_ns}..${slice.start_ns + slice.dur_ns}`, sel: '' })}>sum up inside</button>
				<button onClick={() => go({ q: slice.name })}>find all</button>
				<button onClick={() => show('flame', { name: slice.name, mode: 'callers' })}>callers</button>
				<button onClick={() => { store.isNoting.value = true; }}>note <kbd>M</kbd></button>
				<button onClick={() => copy(slice.name, 'the name')}>copy name</button>
			</div>
			{nMerged > 1 && <p class="quiet">The first of {format.count(nMerged)} that share this pixel; zoom in to tell them apart.</p>}
			<Facts slice={slice} store={store} />
		</section>
		<section>
			<h3>Arguments</h3>
			{args.length ? <dl class="args">{args.map(([key, value]) => [<dt key={key}>{key}</dt>, <dd class="mono">{format.middle(valueText(value), 2000)}</dd>])}</dl> : <p class="quiet">None.</p>}
		</section>
		<section>
			{slice.flows.length > 0 && <><h3>Links</h3><ul class="links">{slice.flows.slice(0, 100).map((flow, i) => <li key={i}><span class="quiet">{flowText(flow)} </span>
				{flow.slice ? <Link store={store} slice={flow.slice} /> : <span class="quiet">something that is not in the trace</span>}</li>)}</ul></>}
			<h3>Inside of</h3>
			{slice.parents.length ? <ol class="links">{slice.parents.map(parent => <li key={parent.id}><Link store={store} slice={parent} /></li>)}</ol> : <p class="quiet">Nothing: it is outermost.</p>}
			{(slice.stack?.length ?? 0) > 0 && <><h3>Stack</h3><ol class="stack-list mono">{slice.stack!.map((frame, i) => <li key={i}>{frame}</li>)}</ol></>}
		</section>
	</div>;
}

interface NameSum { name: string; class: string; n_slices: number; total_ns: number; self_ns: number; min_ns: number; max_ns: number }
interface TrackSum { track: number; n_slices: number; covered_ns: number }
interface Aggregate { n_names: number; names: NameSum[]; tracks: TrackSum[] }

const columns = (list: [string, string, string][]): Column[] => list.map(([key, header, type]) => ({ key, header, type, bar: key === 'percent' }) as Column);
const NAMES = columns([['name', 'name', 'string'], ['n_slices', 'calls', 'count'], ['total_ns', 'total', 'ns'], ['self_ns', 'self', 'ns'], ['percent', 'of the range', 'percent'], ['avg_ns', 'avg', 'ns'], ['min_ns', 'min', 'ns'], ['max_ns', 'max', 'ns']]);
const TRACKS = columns([['name', 'track', 'string'], ['n_slices', 'slices', 'count'], ['covered_ns', 'covered', 'ns'], ['percent', 'of the range', 'percent']]);

function byName(data: Aggregate, length: number): Table {
	const rows = data.names.filter(sum => sum.n_slices > 0).map(sum => ({ ...sum, percent: 100 * sum.total_ns / length, avg_ns: Math.round(sum.total_ns / sum.n_slices) }));
	return { ...tableOf('names', rows, { key: 'names', columns: NAMES }), title: data.n_names > rows.length ? `The longest of ${format.plural(data.n_names, 'name')}` : 'Names' };
}

function byTrack(data: Aggregate, length: number, store: Store): Table {
	const known = new Map(store.tracks.peek()?.tracks.map(track => [track.id, track]));
	const label = (id: number): string => {
		const track = known.get(id);
		return track ? trackLabel(track) + (track.rank !== null && track.rank >= 0 ? `, rank ${track.rank}` : '') : `track ${id}`;
	};
	const rows = data.tracks.filter(sum => sum.n_slices > 0).map(sum => ({ ...sum, name: label(sum.track), percent: 100 * sum.covered_ns / length }));
	return { ...tableOf('tracks', rows, { key: 'tracks', columns: TRACKS }), title: 'Tracks' };
}

function RangeDetails({ range, store }: { range: Range; store: Store }) {
	const [isByTrack, setByTrack] = useState(false);
	const where = sessionPath.value;
	const { data, error } = useFetch<Aggregate>(where && `${where}/aggregate` + query({ from: range.from, to: range.to }));
	const tables = useMemo(() => {
		const length = Math.max(1, range.to - range.from);
		return data && { names: byName(data, length), tracks: byTrack(data, length, store) };
	}, [data]);
	const table = tables && (isByTrack ? tables.tracks : tables.names);

	return <div class="range">
		<div class="tool-row">
			<h2>{format.ns(range.to - range.from)}</h2>
			<span class="quiet">from {format.at(range.from, 1)} to {format.at(range.to, 1)}{data ? `, ${format.plural(data.tracks.reduce((sum, track) => sum + track.n_slices, 0), 'slice')}` : ''}</span>
			<div class="group" role="group" aria-label="Sum up">
				<button aria-pressed={!isByTrack} onClick={() => setByTrack(false)}>by name</button>
				<button aria-pressed={isByTrack} onClick={() => setByTrack(true)}>by track</button>
			</div>
			<button onClick={() => store.move(fit(range.from, range.to, store.end.peek(), 0))}>zoom to it <kbd>F</kbd></button>
			<button onClick={() => { store.isNoting.value = true; }}>note <kbd>M</kbd></button>
			<button onClick={() => show('flame', { from: String(range.from), to: String(range.to) })}>flame of it</button>
			<button onClick={() => copy(link({}), 'a link to this view')}>copy link</button>
		</div>
		{error ? <Failed title="The sums did not come" text={error} /> : table && <TableView table={table} maxHeight={4000} isBare={false} onRow={row => !isByTrack && go({ q: String(table.rows[row]![0]) })} rowTitle="Find all of this name" />}
	</div>;
}

function NoteEditor({ store }: { store: Store }) {
	const { from, to } = store.noteRange();

	return <form class="note-editor tool-row" onSubmit={event => {
		event.preventDefault();
		void store.addNote(new FormData(event.currentTarget).get('text') as string);
	}}>
		<label>Note on {format.ns(to - from)} at {format.at(from, 1000)} <input name="text" size={60} maxLength={2000} ref={node => node?.focus()} onKeyDown={event => event.key === 'Escape' && (store.isNoting.value = false)} /></label>
		<button type="submit">keep</button><button type="button" onClick={() => { store.isNoting.value = false; }}>cancel</button>
		{store.notesKept.value === 'memory' && <span class="quiet">The trace's folder cannot be written: notes last as long as the server runs.</span>}
	</form>;
}

function NoteList({ store }: { store: Store }) {
	return <ul class="note-list">{store.notes.value.map(note => <li key={note.id}>
		<button class="link" onClick={() => { go({ range: `${note.from_ns}..${note.to_ns}`, sel: '' }); store.move(fit(note.from_ns, note.to_ns, store.end.peek(), 0.3)); }}>{note.text}</button>
		<span class="quiet"> {format.at(note.from_ns, 1000)}, {format.ns(note.to_ns - note.from_ns)} </span>
		<button class="plain" aria-label={`Remove the note ${note.text}`} onClick={() => store.removeNote(note.id)}>×</button>
	</li>)}</ul>;
}

export function Drawer({ store }: { store: Store }) {
	const slice = store.selection.value, range = store.range.value;
	const [height, setHeight] = useState(260);
	const isOpen = Boolean(slice || range);
	const drag = (event: PointerEvent): void => {
		const start = event.clientY + height, node = event.currentTarget as HTMLElement;
		const move = (next: PointerEvent): void => setHeight(Math.max(80, Math.min(innerHeight - 240, start - next.clientY)));
		node.setPointerCapture(event.pointerId);
		node.addEventListener('pointermove', move);
		node.addEventListener('pointerup', () => node.removeEventListener('pointermove', move), { once: true });
	};
	const keys = (event: KeyboardEvent): void => {
		if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
			setHeight(Math.max(80, height + (event.key === 'ArrowUp' ? 24 : -24)));
			event.preventDefault();
			event.stopPropagation();
		}
	};

	return <aside class="drawer" aria-label="Details" aria-live="polite">
		{store.isNoting.value && <NoteEditor store={store} />}
		{isOpen ? <>
			<div class="grip" role="separator" aria-orientation="horizontal" aria-label="Height of the details" tabIndex={0} onPointerDown={drag} onKeyDown={keys} />
			<div class="drawer-body" style={{ height: `${height}px` }}>
				<button class="plain close" aria-label="Close the details" onClick={() => go({ sel: '', range: '' })}>×</button>
				{slice && param('sel') ? <SliceDetails slice={slice} store={store} /> : range && <RangeDetails range={range} store={store} />}
			</div>
		</> : <div class="hint quiet">{store.notes.value.length > 0 ? <NoteList store={store} />
			: <>Click a slice for its details, drag to sum up a range. <kbd>W</kbd> <kbd>S</kbd> zoom, <kbd>A</kbd> <kbd>D</kbd> move, <kbd>?</kbd> shows all keys.</>}</div>}
	</aside>;
}
