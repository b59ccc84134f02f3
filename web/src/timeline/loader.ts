// Brings what the timeline shows: rectangles, overlap and counters of the part in sight, one request of a kind at a time,
// the latest wish last. What is there stays until something better is. When the reader rests, a screen on either side
// comes too.
import { ApiError, get, isAbort, query, request } from '../state/api';
import type { CounterChunk, OverlapChunk } from './paint';
import { decode, instantsOf, laneList, type Chunk } from './range';
import type { Viewport } from './viewport';

export interface Wish {
	path: string; // of the session
	view: Viewport;
	width: number; // device px
	lanes: number[];
	instants: number[]; // tracks
	counters: number[];
	overlap: boolean;
	end: number;
	options: Record<string, string>; // of the range request
	generation: number;
}

const KEPT = 6;
const MAX_PX = 8192;
const REST_MS = 160;
const MAX_LANES = 400;

interface Window_ {
	from: number;
	to: number;
	px: number;
}

// The part of the view with a margin of whole pixels on either side, so that pixels fall on pixels.
export function windowOf(view: Viewport, width: number, margin: number, end: number): Window_ {
	const perPixel = (view.to - view.from) / width;
	const left = Math.max(0, Math.min(Math.floor(margin * width), Math.floor(view.from / perPixel)));
	const right = Math.max(
		0,
		Math.min(Math.floor(margin * width), Math.ceil((end - view.to) / perPixel), MAX_PX - width - left),
	);
	return {
		from: Math.round(view.from - left * perPixel),
		to: Math.round(view.to + right * perPixel),
		px: width + left + right,
	};
}

export function covers(chunk: { from: number; to: number; px: number }, view: Viewport, width: number): boolean {
	const own = (view.to - view.from) / width,
		its = (chunk.to - chunk.from) / chunk.px;
	return Math.abs(its / own - 1) < 1e-3 && chunk.from <= view.from + own && chunk.to >= view.to - own;
}

const bytesOf = (values: number[]): Uint8Array => Uint8Array.from(values);
const floatsOf = (values: (number | null)[]): Float64Array => Float64Array.from(values, v => v ?? NaN);

interface OverlapAnswer {
	ranks: { rank: number | null; compute: number[]; communication: number[]; copy: number[] }[];
}
interface CountersAnswer {
	counters: {
		id: number;
		min: (number | null)[];
		max: (number | null)[];
		lowest: number | null;
		highest: number | null;
	}[];
}

export class Loader {
	chunks: Chunk[] = [];
	whole: Chunk | null = null; // of the whole trace, for the minimap and for what is not there yet
	overlap: OverlapChunk[] = [];
	counters: CounterChunk[] = [];
	lastMs = 0;
	private wish: Wish | null = null;
	private control = new AbortController();
	private isBusy = false;
	private timer = 0;
	private key = '';

	constructor(
		private readonly onData: () => void,
		private readonly onError: (error: unknown) => void,
	) {}

	get all(): Chunk[] {
		return this.whole ? [...this.chunks, this.whole] : this.chunks;
	}

	// Numbers of another generation mean something else: what is there goes.
	want(wish: Wish): void {
		const key = JSON.stringify([wish.path, wish.generation, wish.options]);
		if (key !== this.key) {
			this.key = key;
			this.control.abort();
			this.control = new AbortController();
			this.isBusy = false;
			this.chunks = [];
			this.whole = null;
			this.overlap = [];
			this.counters = [];
		}
		this.wish = wish;
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.run(1), REST_MS) as unknown as number;
		this.run(0.1);
	}

	stop(): void {
		clearTimeout(this.timer);
		this.control.abort();
	}

	private run(margin: number): void {
		const { wish } = this;
		if (!wish || this.isBusy || wish.width < 1) return;
		const jobs = this.missing(wish, margin);
		if (!jobs.length) return;
		this.isBusy = true;
		const { signal } = this.control,
			before = this.wish;
		const start = performance.now();
		for (const job of jobs)
			job.then(
				() => !signal.aborted && this.onData(),
				error => !signal.aborted && !isAbort(error) && this.onError(error),
			);
		void Promise.allSettled(jobs).then(() => {
			if (signal.aborted) return;
			this.lastMs = performance.now() - start;
			this.isBusy = false;
			if (this.wish !== before) this.run(0.1);
		});
	}

	private missing(wish: Wish, margin: number): Promise<void>[] {
		const { view, width } = wish,
			wide = margin >= 1;
		const window = windowOf(view, width, margin, wish.end);
		const near = wide ? windowOf(view, width, 0.5, wish.end) : null; // enough on either side
		const fits = (chunk: Chunk): boolean =>
			covers(chunk, view, width) &&
			wish.lanes.every(lane => chunk.lanes.has(lane)) &&
			wish.instants.every(track => chunk.lanes.has(instantsOf(track))) &&
			(!near || (chunk.from <= near.from && chunk.to >= near.to));
		const jobs: Promise<void>[] = [];
		const { signal } = this.control;
		if (!this.whole && wish.lanes.length) jobs.push(this.fetchWhole(wish, signal));
		if (wish.lanes.length + wish.instants.length && !this.chunks.some(fits))
			jobs.push(this.fetchRange(wish, window, signal));
		if (wish.overlap && !this.overlap.some(chunk => covers(chunk, view, width)))
			jobs.push(this.fetchOverlap(wish, window, signal));
		if (
			wish.counters.length &&
			!this.counters.some(
				chunk =>
					covers(chunk, view, width) && wish.counters.every(id => chunk.counters.has(id)),
			)
		)
			jobs.push(this.fetchCounters(wish, window, signal));
		return jobs;
	}

	private async range(
		wish: Wish,
		window: Window_,
		lanes: number[],
		instants: number[],
		signal: AbortSignal,
	): Promise<Chunk> {
		const response = await request(
			`${wish.path}/range` +
				query({
					from: window.from,
					to: window.to,
					px: window.px,
					lanes: laneList(lanes),
					instants: laneList(instants),
					...wish.options,
				}),
			{ signal },
		);
		const generation = Number(response.headers.get('Sonde-Generation') ?? wish.generation);
		if (wish.generation && generation !== wish.generation)
			throw new ApiError('The recording has grown.', 409, 'changed'); // new tracks are on their way
		return decode(await response.arrayBuffer(), window.from, window.to, window.px, [
			...lanes,
			...instants.map(instantsOf),
		]);
	}

	private async fetchWhole(wish: Wish, signal: AbortSignal): Promise<void> {
		this.whole = await this.range(
			wish,
			{ from: 0, to: Math.max(1, wish.end), px: Math.min(MAX_PX, wish.width) },
			wish.lanes.slice(0, MAX_LANES),
			[],
			signal,
		);
	}

	private async fetchRange(wish: Wish, window: Window_, signal: AbortSignal): Promise<void> {
		const chunk = await this.range(
			wish,
			window,
			wish.lanes.slice(0, MAX_LANES),
			wish.instants.slice(0, MAX_LANES),
			signal,
		);
		const inside = (old: Chunk): boolean =>
			old.from >= chunk.from &&
			old.to <= chunk.to &&
			old.lanes.size <= chunk.lanes.size &&
			Math.abs((old.to - old.from) / old.px / ((chunk.to - chunk.from) / chunk.px) - 1) < 1e-3;
		this.chunks = [chunk, ...this.chunks.filter(old => !inside(old))].slice(0, KEPT);
	}

	private async fetchOverlap(wish: Wish, window: Window_, signal: AbortSignal): Promise<void> {
		const answer = await get<OverlapAnswer>(
			`${wish.path}/overlap` + query({ from: window.from, to: window.to, px: window.px }),
			signal,
		);
		const ranks = new Map(
			(answer.ranks ?? []).map(one => [
				one.rank ?? -1,
				[bytesOf(one.compute), bytesOf(one.communication), bytesOf(one.copy)],
			]),
		);
		this.overlap = [{ ...window, ranks }, ...this.overlap].slice(0, 3);
	}

	private async fetchCounters(wish: Wish, window: Window_, signal: AbortSignal): Promise<void> {
		const answer = await get<CountersAnswer>(
			`${wish.path}/counters` +
				query({
					ids: laneList(wish.counters),
					from: window.from,
					to: window.to,
					px: window.px,
				}),
			signal,
		);
		const counters = new Map(
			answer.counters.map(one => [
				one.id,
				{
					min: floatsOf(one.min),
					max: floatsOf(one.max),
					lowest: one.lowest ?? 0,
					highest: one.highest ?? 0,
				},
			]),
		);
		for (const id of wish.counters)
			if (!counters.has(id))
				counters.set(id, {
					min: new Float64Array(window.px).fill(NaN),
					max: new Float64Array(window.px).fill(NaN),
					lowest: 0,
					highest: 0,
				});
		this.counters = [{ ...window, counters }, ...this.counters].slice(0, 3);
	}
}
