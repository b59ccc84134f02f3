// The line above the timeline: filters, what the search found, saved views.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import * as format from '../data/format';
import { copy, go, link, param, say, sessionPath } from '../state/app';
import { get, isFile, send, sentence } from '../state/api';
import type { SavedView } from '../state/types';
import type { Store } from './store';

function countText({ n_slices, n_instants = 0 }: { n_slices: number; n_instants?: number }): string {
	const instants = format.plural(n_instants, 'instant');
	if (!n_slices && n_instants) return instants;
	return format.plural(n_slices, 'slice') + (n_instants ? ` and ${instants}` : '');
}

function Found({ store }: { store: Store }) {
	const found = store.found.value;

	if (!found) return null;
	return (
		<span class="found">
			<span>
				{found.n_slices || found.names.length
					? `${countText(found)} of ${format.plural(found.names.length, 'name')}`
					: 'No matching name.'}
			</span>
			<button onClick={() => store.searchNext('previous')} aria-label="Previous match">
				◂
			</button>
			<button onClick={() => store.searchNext('next')} aria-label="Next match">
				▸
			</button>
		</span>
	);
}

const toggle = (name: string, on: string): void => go({ [name]: param(name) === on ? '' : on });

function Views() {
	const views = useSignal<SavedView[]>([]);
	const path = sessionPath.value;

	useEffect(() => {
		if (path)
			get<{ views: SavedView[] }>(`${path}/views`).then(
				answer => {
					views.value = answer.views;
				},
				() => undefined,
			);
	}, [path]);
	const save = async (): Promise<void> => {
		const name = `View ${views.value.length + 1}, ${new Date().toLocaleTimeString()}`;
		try {
			const made = await send<SavedView>('POST', `${path}/views`, { name, state: location.hash });
			views.value = [...views.value, made];
			say(`Saved as "${name}".`);
		} catch (error) {
			say(sentence(error));
		}
	};
	return (
		<>
			{views.value.length > 0 && (
				<select
					aria-label="Saved views"
					value=""
					onChange={event => {
						if (event.currentTarget.value)
							location.hash = event.currentTarget.value;
					}}
				>
					<option value="">saved views</option>
					{views.value.map(view => (
						<option key={view.id} value={view.state}>
							{view.name}
						</option>
					))}
				</select>
			)}
			<button onClick={save}>save view</button>
		</>
	);
}

export function Tools({ store }: { store: Store }) {
	const view = store.view.value;

	return (
		<div class="tl-tools tool-row">
			<input
				type="search"
				class="track-filter"
				placeholder="tracks"
				aria-label="Filter tracks by name"
				value={param('tracks')}
				onInput={event => go({ tracks: event.currentTarget.value })}
			/>
			<label>
				shortest{' '}
				<select value={param('min')} onChange={event => go({ min: event.currentTarget.value })}>
					<option value="">any</option>
					{[1e3, 1e4, 1e5, 1e6, 1e7].map(ns => (
						<option key={ns} value={String(ns)}>
							{format.ns(ns)}
						</option>
					))}
				</select>
			</label>
			<label>
				depth{' '}
				<select
					value={param('depth')}
					onChange={event => go({ depth: event.currentTarget.value })}
				>
					<option value="">all</option>
					{[1, 2, 4, 8, 16, 32].map(n => (
						<option key={n} value={String(n)}>
							{n}
						</option>
					))}
				</select>
			</label>
			<button aria-pressed={param('hide') === 'python'} onClick={() => toggle('hide', 'python')}>
				hide Python
			</button>
			<button aria-pressed={param('group') === '1'} onClick={() => toggle('group', '1')}>
				group small
			</button>
			<button onClick={() => store.foldAll(!param('fold'))}>
				{param('fold') ? 'unfold all' : 'fold all'}
			</button>
			{store.isRough.value && (
				<span class="quiet">
					Too many slices to filter one by one: zoom in to see what hides beside longer
					ones.
				</span>
			)}
			<Found store={store} />
			<span class="spring" />
			<span class="quiet">
				{(store.tracks.value?.tracks.length ?? 0) > 0 &&
					`${format.ns(view.to - view.from)} of ${format.ns(store.end.value)}`}
			</span>
			{!isFile && <Views />}
			<button onClick={() => copy(link({}), 'a link to this view')}>copy link</button>
		</div>
	);
}
