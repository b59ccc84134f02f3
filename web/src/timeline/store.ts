// What the timeline knows and shows; its place, selection and filters live in the address.
import { batch, computed, effect, signal, type ReadonlySignal } from '@preact/signals';
import { integer } from '../data/address';
import { facts, go, param, params, say, sessionPath, shownGeneration } from '../state/app';
import { get, isAbort, query, request, send, sentence } from '../state/api';
import type { Flow, Instant, Site, Slice, SliceRef, Step, TimeNote, Tracks } from '../state/types';
import { layout, type Layout } from './layout';
import { decode, laneList } from './range';
import { clamp, fit, reveal, type Viewport } from './viewport';

export interface Range {
	from: number;
	to: number;
}
export interface Hover {
	slice: number;
	site: number;
	n: number;
	lane: number;
	x: number;
	y: number;
	instant: { id: number; site: number; n: number } | null;
	counter: { name: string; min: number; max: number } | null;
}
interface SearchAnswer {
	names: { site: number; name: string; n_slices: number; total_ns: number }[];
	n_slices: number;
	slice: SliceRef | null;
	n_instants?: number;
	instant?: Pick<Instant, 'id' | 'time_ns'> | null;
}

// The address holds a slice as sel=12, an instant as sel=i12.
const instantId = (text: string): number | null => (text.startsWith('i') ? integer(text.slice(1)) : null);

const listOf = (name: string): ReadonlySet<string> => new Set(param(name).split(',').filter(Boolean));

// Kineto writes an arrow for each launch, too: once is enough.
const distinct = (flows: Flow[]): Flow[] =>
	flows.filter(
		flow =>
			flow.kind === 'launch' ||
			!flows.some(
				other =>
					other.kind === 'launch' &&
					other.dir === flow.dir &&
					other.slice?.id === flow.slice?.id,
			),
	);

function rangeOf(text: string): Range | null {
	const [from, to] = text.split('..').map(part => integer(part));
	return from !== null && from !== undefined && to !== null && to !== undefined && to >= from
		? { from, to }
		: null;
}

export class Store {
	readonly tracks = signal<Tracks | null>(null);
	readonly sites = signal<Site[]>([]);
	readonly steps = signal<Step[]>([]);
	readonly notes = signal<TimeNote[]>([]);
	readonly notesKept = signal<string>('file');
	readonly error = signal<string | null>(null);
	// One row of steps: of the first rank that is shown.
	readonly stepRow = computed(() => {
		const wanted = integer(param('ranks').split(',')[0]),
			steps = this.steps.value;
		const rank =
			wanted ??
			steps.reduce<number | null>(
				(least, step) => (step.rank === null ? least : Math.min(step.rank, least ?? step.rank)),
				null,
			);
		return steps.filter(step => step.rank === rank);
	});
	readonly end: ReadonlySignal<number> = computed(() => Math.max(1, facts.value?.duration_ns ?? 1));
	// Where what is shown begins: later than 0 while a recording grows faster than it is read.
	readonly begin: ReadonlySignal<number> = computed(() => facts.value?.session?.window?.from_ns ?? 0);
	readonly view = signal<Viewport>({ from: 0, to: 1 });
	readonly selection = signal<Slice | null>(null);
	readonly instant = signal<Instant | null>(null); // that is selected
	readonly hover = signal<Hover | null>(null);
	readonly found = signal<SearchAnswer | null>(null);
	readonly overlapRanks = signal<ReadonlySet<number>>(new Set());
	readonly emptyLanes = signal<ReadonlySet<number>>(new Set()); // of which the filters leave nothing
	readonly isNoting = signal(false);
	readonly isRough = signal(false); // the filters hide more than they should
	readonly range = computed(() => rangeOf(param('range')));
	readonly layout: ReadonlySignal<Layout | null> = computed(
		() =>
			this.tracks.value &&
			layout(this.tracks.value, {
				folded: listOf('fold'),
				pinned: listOf('pin'),
				maxDepth: integer(param('depth')) ?? Infinity,
				filter: param('tracks'),
				ranks: param('ranks') ? new Set(param('ranks').split(',').map(Number)) : null,
				overlapRanks: this.overlapRanks.value,
				emptyLanes: this.emptyLanes.value,
			}),
	);
	readonly rangeOptions = computed((): Record<string, string> => {
		const options: Record<string, string> = {};
		if (param('hide')) options['hide'] = param('hide');
		if (integer(param('min'))) options['min_dur'] = param('min');
		return options;
	});
	readonly marks = computed(() => {
		const { found } = this;
		return found.value && new Set(found.value.names.map(name => name.site));
	});
	private readonly details = new Map<string, Promise<Slice>>();
	private readonly ends: (() => void)[] = [];
	private addressTimer = 0;
	private selectedIn = 0; // generation
	private isWhole = true; // the end is followed while the recording grows
	private isFromStart = false; // the reader wants to see also what is not there yet

	start(): void {
		this.view.value = this.viewOfAddress();
		this.isWhole = params.peek()['from'] === undefined;
		this.ends.push(
			effect(() => {
				const end = this.end.value,
					from = this.isFromStart ? 0 : this.begin.value;
				if (this.isWhole) this.view.value = { from, to: Math.max(end, from + 20) };
			}),
		);
		this.ends.push(effect(() => this.load(sessionPath.value, shownGeneration.value)));
		this.ends.push(effect(() => this.select(integer(param('sel')), param('fit') === '1')));
		this.ends.push(effect(() => this.selectInstant(instantId(param('sel')), shownGeneration.value)));
		this.ends.push(effect(() => this.findEmpty(this.rangeOptions.value, this.tracks.value)));
		this.ends.push(effect(() => this.search(param('q'))));
		this.ends.push(effect(() => this.goToStep(param('step'), this.steps.value)));
		let shownSteps = params.peek()['from'] === undefined ? '' : param('steps'); // a link holds its place already
		this.ends.push(
			effect(() => {
				const wanted = param('steps');
				if (this.steps.value.length && wanted !== shownSteps) {
					shownSteps = wanted;
					if (wanted) this.goToStep(wanted, this.steps.value);
				}
			}),
		);
		// The reader went back or opened a link.
		let last = '';
		this.ends.push(
			effect(() => {
				const now = `${params.value['from']}..${params.value['to']}`;
				if (
					now !== last &&
					now !== `${this.view.peek().from}..${this.view.peek().to}` &&
					params.value['from'] !== undefined
				)
					this.move(this.viewOfAddress());
				last = now;
			}),
		);
	}

	stop(): void {
		clearTimeout(this.addressTimer);
		this.ends.forEach(end => end());
	}

	private viewOfAddress(): Viewport {
		const from = integer(params.peek()['from']),
			to = integer(params.peek()['to']);
		return clamp(
			from !== null && to !== null && to > from ? { from, to } : { from: this.begin.peek(), to: this.end.peek() },
			this.end.peek(),
		);
	}

	// Moves; the address follows when the reader rests.
	move(view: Viewport): void {
		this.view.value = clamp(view, this.end.peek());
		const { from, to } = this.view.peek();
		this.isWhole = (from === 0 || from === this.begin.peek()) && to >= this.end.peek();
		this.isFromStart = from === 0 && this.begin.peek() > 0;
		clearTimeout(this.addressTimer);
		this.addressTimer = setTimeout(() => {
			const { from, to } = this.view.peek();
			go({ from: this.isWhole ? '' : String(from), to: this.isWhole ? '' : String(to) });
		}, 200) as unknown as number;
	}

	// ---- What comes from the server ------------------------------------------------------------------------------

	private load(path: string | null, generation: number): () => void {
		const control = new AbortController();
		const fail = (error: unknown): void => {
			if (!isAbort(error)) this.error.value = sentence(error);
		};
		if (path) {
			Promise.all([
				get<Tracks>(`${path}/tracks`, control.signal),
				this.loadSites(path, control.signal),
			]).then(
				([tracks, sites]) =>
					batch(() => {
						this.sites.value = sites;
						this.tracks.value = {
							...tracks,
							generation: tracks.generation ?? generation,
						};
						this.error.value = null;
						this.details.clear();
						void this.findAgain();
					}),
				fail,
			);
			get<{ steps: Step[] }>(`${path}/steps`, control.signal).then(answer => {
				this.steps.value = answer.steps;
			}, fail);
			get<{ notes: TimeNote[]; kept_in?: string }>(`${path}/notes`, control.signal).then(answer => {
				this.notes.value = answer.notes;
				this.notesKept.value = answer.kept_in ?? 'file';
			}, fail);
			get<{ ranks: { rank: number | null }[] }>(
				`${path}/overlap` + query({ from: 0, to: this.end.peek(), px: 16 }),
				control.signal,
			).then(
				answer => {
					this.overlapRanks.value = new Set(
						(answer.ranks ?? []).map(one => one.rank ?? -1),
					);
				},
				() => undefined,
			);
		}
		return () => control.abort();
	}

	// One pixel of the whole trace tells whether a lane has anything left.
	private findEmpty(options: Record<string, string>, tracks: Tracks | null): () => void {
		const control = new AbortController(),
			lanes = tracks?.lanes.map(one => one.lane) ?? [];
		if (!Object.keys(options).length || !lanes.length) this.emptyLanes.value = new Set();
		else
			request(
				`${sessionPath.peek()}/range` +
					query({
						from: 0,
						to: this.end.peek(),
						px: 1,
						lanes: laneList(lanes),
						...options,
					}),
				{ signal: control.signal },
			)
				.then(async answer => {
					const { lanes: left } = decode(await answer.arrayBuffer(), 0, 1, 1, []);
					this.emptyLanes.value = new Set(lanes.filter(lane => left.get(lane)?.n === 0));
				})
				.catch(() => undefined);
		return () => control.abort();
	}

	// Numbers are of one generation: the slice that is selected is looked for by its name and time.
	private async findAgain(): Promise<void> {
		const now = this.selection.peek(),
			generation = this.tracks.peek()?.generation ?? 0;
		if (!now || this.selectedIn === generation) return;
		this.selectedIn = generation;
		const found = await get<SearchAnswer>(
			`${sessionPath.peek()}/search` + query({ q: now.name, from: now.start_ns, dir: 'next' }),
		).catch(() => null);
		if (
			found?.slice?.start_ns === now.start_ns &&
			found.slice.name === now.name &&
			this.selection.peek() === now
		)
			go({ sel: String(found.slice.id) });
	}

	private async loadSites(path: string, signal: AbortSignal): Promise<Site[]> {
		const sites: Site[] = [];
		for (let total = 1; sites.length < total;) {
			const answer = await get<{ total: number; sites: Site[] }>(
				`${path}/sites?from=${sites.length}`,
				signal,
			);
			total = answer.total;
			if (!answer.sites.length) break;
			sites.push(...answer.sites);
		}
		return sites;
	}

	slice(id: number): Promise<Slice> {
		const path = `${sessionPath.peek()}/slices/${id}`;
		let known = this.details.get(path);
		if (!known) {
			known = get<Slice>(path).then(slice => ({
				...slice,
				flows: distinct(slice.flows ?? []),
				parents: slice.parents ?? [],
			}));
			known.catch(() => this.details.delete(path));
			this.details.set(path, known);
			if (this.details.size > 500) this.details.delete(this.details.keys().next().value!);
		}
		return known;
	}

	private select(id: number | null, isToFit: boolean): void {
		if (id === null) {
			this.selection.value = null;
			return;
		}
		if (this.selection.peek()?.id === id && !isToFit) return;
		this.slice(id).then(
			slice => {
				if (integer(params.peek()['sel']) !== id) return;
				this.selection.value = slice;
				this.selectedIn = this.tracks.peek()?.generation ?? 0;
				if (isToFit) {
					go({ fit: '' });
					this.move(
						fit(
							slice.start_ns,
							slice.start_ns + slice.dur_ns,
							this.end.peek(),
							1.5,
						),
					);
				}
			},
			error => say(sentence(error)),
		);
	}

	// Numbers are of one generation: one that is another thing by now is left.
	private selectInstant(id: number | null, _generation: number): () => void {
		const control = new AbortController(),
			before = this.instant.peek();
		if (id === null) this.instant.value = null;
		else
			get<Instant>(`${sessionPath.peek()}/instants/${id}`, control.signal).then(
				now => {
					const isOther =
						before?.id === id &&
						(before.name !== now.name || before.time_ns !== now.time_ns);
					if (isOther) go({ sel: '' });
					else this.instant.value = now;
				},
				error => {
					if (!isAbort(error)) say(sentence(error));
				},
			);
		return () => control.abort();
	}

	private pickInstant({ id, time_ns }: Pick<Instant, 'id' | 'time_ns'>): void {
		go({ sel: `i${id}`, range: '' });
		this.move(reveal(this.view.peek(), time_ns, time_ns, this.end.peek()));
	}

	// To the instant beside the one that is selected, on its track.
	async besideInstant(dir: 'previous' | 'next'): Promise<void> {
		const id = this.instant.peek()?.[dir] ?? null;
		if (id === null)
			return say(`No instant ${dir === 'next' ? 'after' : 'before'} this one on its track.`);
		try {
			this.pickInstant(await get<Instant>(`${sessionPath.peek()}/instants/${id}`));
		} catch (error) {
			say(sentence(error));
		}
	}

	// ---- Moving between slices -----------------------------------------------------------------------------------

	pick(ref: SliceRef | Slice): void {
		go({ sel: String(ref.id), range: '' });
		this.move(reveal(this.view.peek(), ref.start_ns, ref.start_ns + ref.dur_ns, this.end.peek()));
	}

	async neighbor(dir: string, by = ''): Promise<void> {
		const now = this.selection.peek();
		if (!now) return;
		try {
			const answer = await get<SliceRef & { slice?: SliceRef | null }>(
				`${sessionPath.peek()}/slices/${now.id}/next` + query({ dir, by }),
			);
			const next = answer && 'slice' in answer ? answer.slice : answer;
			if (next && next.id !== undefined) this.pick(next);
			else
				say(
					by
						? `No other slice with this name ${dir === 'next' ? 'after' : 'before'} this one.`
						: 'No such slice.',
				);
		} catch (error) {
			say(sentence(error));
		}
	}

	private search(text: string): () => void {
		const control = new AbortController();
		if (!text.trim()) this.found.value = null;
		else {
			const timer = setTimeout(() => {
				get<SearchAnswer>(
					`${sessionPath.peek()}/search` + query({ q: text }),
					control.signal,
				).then(
					found => {
						this.found.value = found;
					},
					error => {
						if (!isAbort(error)) say(sentence(error));
					},
				);
			}, 120);
			control.signal.addEventListener('abort', () => clearTimeout(timer));
		}
		return () => control.abort();
	}

	// From the selection on, else from the left or right edge of what is seen.
	async searchNext(dir: 'next' | 'previous'): Promise<void> {
		const now = this.selection.peek(),
			mark = this.instant.peek(),
			view = this.view.peek();
		// Instants come behind slices of the same time.
		const from = mark ? mark.time_ns + 1 : now ? now.start_ns : dir === 'next' ? view.from : view.to;
		try {
			const found = await get<SearchAnswer>(
				`${sessionPath.peek()}/search` +
					query({
						q: param('q'),
						from,
						dir,
						after: now?.id ?? null,
						after_instant: mark?.id ?? null,
					}),
			);
			this.found.value = found;
			const { slice, instant } = found;
			const isSlice =
				slice &&
				(!instant ||
					(dir === 'next'
						? slice.start_ns <= instant.time_ns
						: slice.start_ns > instant.time_ns));
			if (isSlice) this.pick(slice);
			else if (instant) this.pickInstant(instant);
			else
				say(
					found.n_slices || found.n_instants
						? `No more matches ${dir === 'next' ? 'after' : 'before'} this.`
						: 'No matching name.',
				);
		} catch (error) {
			say(sentence(error));
		}
	}

	private goToStep(text: string, steps: Step[]): void {
		if (!text || !steps.length) return;
		const [first, last] = text.split('..').map(part => integer(part));
		const found = steps.filter(step => step.number >= (first ?? 0) && step.number <= (last ?? first ?? 0));
		go({ step: '' });
		if (!found.length) return say(`There is no step ${text} in this trace.`);
		const from = Math.min(...found.map(step => step.start_ns)),
			to = Math.max(...found.map(step => step.start_ns + step.dur_ns));
		go({ range: `${from}..${to}`, sel: '' });
		this.move(fit(from, to, this.end.peek(), 0.05));
	}

	// ---- Folding, pinning, notes ---------------------------------------------------------------------------------

	toggle(name: 'fold' | 'pin', key: string): void {
		const list = new Set(listOf(name));
		if (!list.delete(key)) list.add(key);
		go({ [name]: [...list].join(',') });
	}

	foldAll(isFolded: boolean): void {
		const keys = (this.tracks.peek()?.tracks ?? []).map(track => `t${track.id}`);
		go({ fold: isFolded ? keys.join(',') : '' });
	}

	// What a note would be about: the range, the selection, else what is seen.
	noteRange(): Range {
		const range = this.range.peek(),
			slice = this.selection.peek(),
			instant = this.instant.peek();
		if (range) return range;
		if (instant) return { from: instant.time_ns, to: instant.time_ns };
		return slice ? { from: slice.start_ns, to: slice.start_ns + slice.dur_ns } : { ...this.view.peek() };
	}

	async addNote(text: string): Promise<void> {
		const { from, to } = this.noteRange();
		this.isNoting.value = false;
		if (!text.trim()) return;
		try {
			const note = await send<TimeNote>('POST', `${sessionPath.peek()}/notes`, {
				from_ns: from,
				to_ns: to,
				text: text.trim(),
			});
			this.notes.value = [...this.notes.peek(), note];
		} catch (error) {
			say(sentence(error));
		}
	}

	async removeNote(id: number): Promise<void> {
		try {
			await send('DELETE', `${sessionPath.peek()}/notes/${id}`);
			this.notes.value = this.notes.peek().filter(note => note.id !== id);
		} catch (error) {
			say(sentence(error));
		}
	}
}
