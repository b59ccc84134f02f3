// Below the timeline: the slice that is selected, or what a range sums up to; notes.
import { useState } from 'preact/hooks';
import * as format from '../data/format';
import { go, param } from '../state/app';
import { InstantDetails, SliceDetails } from './details';
import { RangeDetails } from './sums';
import type { Store } from './store';
import { fit } from './viewport';

function NoteEditor({ store }: { store: Store }) {
	const { from, to } = store.noteRange();

	return (
		<form
			class="note-editor tool-row"
			onSubmit={event => {
				event.preventDefault();
				void store.addNote(new FormData(event.currentTarget).get('text') as string);
			}}
		>
			<label>
				Note on {format.ns(to - from)} at {format.at(from, 1000)}{' '}
				<input
					name="text"
					size={60}
					maxLength={2000}
					ref={node => node?.focus()}
					onKeyDown={event => event.key === 'Escape' && (store.isNoting.value = false)}
				/>
			</label>
			<button type="submit">keep</button>
			<button
				type="button"
				onClick={() => {
					store.isNoting.value = false;
				}}
			>
				cancel
			</button>
			{store.notesKept.value === 'memory' && (
				<span class="quiet">
					The trace's directory is not writable: notes last until the server stops.
				</span>
			)}
		</form>
	);
}

function NoteList({ store }: { store: Store }) {
	return (
		<ul class="note-list">
			{store.notes.value.map(note => (
				<li key={note.id}>
					<button
						class="link"
						onClick={() => {
							go({ range: `${note.from_ns}..${note.to_ns}`, sel: '' });
							store.move(
								fit(note.from_ns, note.to_ns, store.end.peek(), 0.3),
							);
						}}
					>
						{note.text}
					</button>
					<span class="quiet">
						{' '}
						{format.at(note.from_ns, 1000)},{' '}
						{format.ns(note.to_ns - note.from_ns)}{' '}
					</span>
					<button
						class="plain"
						aria-label={`Remove the note ${note.text}`}
						onClick={() => store.removeNote(note.id)}
					>
						×
					</button>
				</li>
			))}
		</ul>
	);
}

export function Drawer({ store }: { store: Store }) {
	const slice = store.selection.value,
		instant = store.instant.value,
		range = store.range.value;
	const [height, setHeight] = useState(260);
	const isOpen = Boolean(slice || instant || range);
	const drag = (event: PointerEvent): void => {
		const start = event.clientY + height,
			node = event.currentTarget as HTMLElement;
		const move = (next: PointerEvent): void =>
			setHeight(Math.max(80, Math.min(innerHeight - 240, start - next.clientY)));
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

	return (
		<aside class="drawer" aria-label="Details" aria-live="polite">
			{store.isNoting.value && <NoteEditor store={store} />}
			{isOpen ? (
				<>
					<div
						class="grip"
						role="separator"
						aria-orientation="horizontal"
						aria-label="Height of the details"
						tabIndex={0}
						onPointerDown={drag}
						onKeyDown={keys}
					/>
					<div class="drawer-body" style={{ height: `${height}px` }}>
						<button
							class="plain close"
							aria-label="Close the details"
							onClick={() => go({ sel: '', range: '' })}
						>
							×
						</button>
						{slice && param('sel') ? (
							<SliceDetails slice={slice} store={store} />
						) : instant ? (
							<InstantDetails instant={instant} store={store} />
						) : (
							range && <RangeDetails range={range} store={store} />
						)}
					</div>
				</>
			) : (
				<div class="hint quiet">
					{store.notes.value.length > 0 ? (
						<NoteList store={store} />
					) : (
						<>
							Click a slice for its details, drag to sum up a range.{' '}
							<kbd>W</kbd> <kbd>S</kbd> zoom, <kbd>A</kbd> <kbd>D</kbd> move,{' '}
							<kbd>?</kbd> shows all keys.
						</>
					)}
				</div>
			)}
		</aside>
	);
}
