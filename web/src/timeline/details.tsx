// The slice that is selected: when, where, how long, arguments, links, what it is inside of.
import * as format from '../data/format';
import { css, siteColor } from '../data/colors';
import { copy, go, isDark, show } from '../state/app';
import { isFile } from '../state/api';
import type { Flow, Instant, Slice, SliceRef } from '../state/types';
import { trackLabel } from './layout';
import type { Store } from './store';
import { fit } from './viewport';

export function Swatch({ name, kind }: { name: string; kind: string }) {
	return (
		<span
			class="swatch"
			aria-hidden="true"
			style={{ background: css(siteColor(name, kind, isDark.value)) }}
		/>
	);
}

function Link({ store, slice, text }: { store: Store; slice: SliceRef; text?: string }) {
	return (
		<button class="link slice-link" title={slice.name} onClick={() => store.pick(slice)}>
			<Swatch name={slice.name} kind={slice.class} />
			{text ?? format.middle(slice.name, 64)}
			<span class="quiet"> {format.ns(slice.dur_ns)}</span>
		</button>
	);
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const FLOW_TEXT: Record<string, [string, string]> = {
	launch: ['launched by', 'launches'],
	fwdbwd: ['its forward', 'its backward'],
};
const flowText = (flow: Flow): string =>
	(FLOW_TEXT[flow.kind] ?? FLOW_TEXT[flow.name] ?? [`${flow.name} from`, `${flow.name} to`])[
		flow.dir === 'in' ? 0 : 1
	]!;

function placeOf(one: { thread?: string | null; track: number; rank: number | null }, store: Store): string {
	const track = store.tracks.value?.tracks.find(other => other.id === one.track);
	return [
		one.thread ?? (track && trackLabel(track)) ?? `track ${one.track}`,
		one.rank !== null && one.rank >= 0 ? `rank ${one.rank}` : '',
	]
		.filter(Boolean)
		.join(', ');
}

function Facts({ slice, store }: { slice: Slice; store: Store }) {
	const rows: [string, string][] = [
		['start', format.at(slice.start_ns, 1)],
		[
			'duration',
			format.ns(slice.dur_ns) + (slice.dur_ns >= 1000 ? `  (${format.count(slice.dur_ns)} ns)` : ''),
		],
		[
			'self',
			slice.self_ns === null
				? '-'
				: `${format.ns(slice.self_ns)}${slice.dur_ns ? `  (${format.percent((100 * slice.self_ns) / slice.dur_ns)} %)` : ''}`,
		],
		['category', `${slice.category || '-'} (${slice.class.replace('_', ' ')})`],
		['on', placeOf(slice, store)],
		['depth', `${slice.depth}, ${format.plural(slice.n_children, 'child', 'children')}`],
	];
	return (
		<dl class="facts">
			{rows.map(([key, text]) => [<dt key={key}>{key}</dt>, <dd>{text}</dd>])}
			{slice.is_open && [<dt>end</dt>, <dd>The slice was still open when the trace ended.</dd>]}
			{slice.is_repaired && [
				<dt>end</dt>,
				<dd>The end was missing and was set to the end of the enclosing slice.</dd>,
			]}
		</dl>
	);
}

function Arguments({ of }: { of: Slice['args'] }) {
	const args = Object.entries(of ?? {});

	return (
		<section>
			<h3>Arguments</h3>
			{args.length ? (
				<dl class="args">
					{args.map(([key, value]) => [
						<dt key={key}>{key}</dt>,
						<dd class="mono">{format.middle(valueText(value), 2000)}</dd>,
					])}
				</dl>
			) : (
				<p class="quiet">
					{of ? 'None.' : 'Unreadable: this part of the trace is damaged.'}
				</p>
			)}
		</section>
	);
}

export const NoteButton = ({ store }: { store: Store }) =>
	isFile ? null : (
		<button
			onClick={() => {
				store.isNoting.value = true;
			}}
		>
			note <kbd>M</kbd>
		</button>
	);

export function InstantDetails({ instant, store }: { instant: Instant; store: Store }) {
	const rows: [string, string][] = [
		['at', format.at(instant.time_ns, 1)],
		['category', `${instant.category || '-'} (${instant.class.replace('_', ' ')})`],
		['on', placeOf(instant, store)],
	];

	return (
		<div class="details">
			<section class="main">
				<h2 class="mono">
					<Swatch name={instant.name} kind={instant.class} />
					<span>{format.middle(instant.name, 400)}</span>
				</h2>
				<div class="tool-row">
					<button
						disabled={instant.previous === null}
						onClick={() => store.besideInstant('previous')}
						aria-label="Previous on its track"
					>
						◂ <kbd>←</kbd>
					</button>
					<button
						disabled={instant.next === null}
						onClick={() => store.besideInstant('next')}
						aria-label="Next on its track"
					>
						▸ <kbd>→</kbd>
					</button>
					<NoteButton store={store} />
					<button onClick={() => copy(instant.name, 'the name')}>copy name</button>
				</div>
				<dl class="facts">
					{rows.map(([key, text]) => [<dt key={key}>{key}</dt>, <dd>{text}</dd>])}
				</dl>
				<p class="quiet">An instant: a time without a duration.</p>
			</section>
			<Arguments of={instant.args} />
		</div>
	);
}

export function SliceDetails({ slice, store }: { slice: Slice; store: Store }) {
	const nMerged = store.hover.peek()?.slice === slice.id ? store.hover.peek()!.n : 1;

	return (
		<div class="details">
			<section class="main">
				<h2 class="mono">
					<Swatch name={slice.name} kind={slice.class} />
					<span>{format.middle(slice.name, 400)}</span>
				</h2>
				<div class="tool-row">
					<button
						onClick={() =>
							store.move(
								fit(
									slice.start_ns,
									slice.start_ns + slice.dur_ns,
									store.end.peek(),
								),
							)
						}
					>
						fit <kbd>F</kbd>
					</button>
					<button
						onClick={() => store.neighbor('previous', 'name')}
						aria-label="Previous of the same name"
					>
						◂ <kbd>[</kbd>
					</button>
					<button
						onClick={() => store.neighbor('next', 'name')}
						aria-label="Next of the same name"
					>
						▸ <kbd>]</kbd>
					</button>
					<button
						onClick={() =>
							go({
								range: `${slice.start_ns}..${slice.start_ns + slice.dur_ns}`,
								sel: '',
							})
						}
					>
						sum up inside
					</button>
					<button onClick={() => go({ q: slice.name })}>find all</button>
					{!isFile && (
						<button
							onClick={() =>
								show('flame', { name: slice.name, mode: 'callers' })
							}
						>
							callers
						</button>
					)}
					<NoteButton store={store} />
					<button onClick={() => copy(slice.name, 'the name')}>copy name</button>
				</div>
				{nMerged > 1 && (
					<p class="quiet">
						The first of {format.count(nMerged)} that share this pixel; zoom in to
						tell them apart.
					</p>
				)}
				<Facts slice={slice} store={store} />
			</section>
			<Arguments of={slice.args} />
			<section>
				{slice.flows.length > 0 && (
					<>
						<h3>Links</h3>
						<ul class="links">
							{slice.flows.slice(0, 100).map((flow, i) => (
								<li key={i}>
									<span class="quiet">{flowText(flow)} </span>
									{flow.slice ? (
										<Link
											store={store}
											slice={flow.slice}
										/>
									) : (
										<span class="quiet">
											something that is not in the
											trace
										</span>
									)}
								</li>
							))}
						</ul>
					</>
				)}
				<h3>Stack</h3>
				{slice.parents.length ? (
					<ol class="links">
						{slice.parents.map(parent => (
							<li key={parent.id}>
								<Link store={store} slice={parent} />
							</li>
						))}
					</ol>
				) : (
					<p class="quiet">None: this slice is outermost.</p>
				)}
				{(slice.stack?.length ?? 0) > 0 && (
					<>
						<h3>Stack</h3>
						<ol class="stack-list mono">
							{slice.stack!.map((frame, i) => (
								<li key={i}>{frame}</li>
							))}
						</ol>
					</>
				)}
			</section>
		</div>
	);
}
