// The timeline's canvases: sends frames to the worker, draws what lies over them, and knows what is under the pointer.
import { effect } from '@preact/signals';
import { HUE, hueColor, parse, siteColor } from '../data/colors';
import { facts, isDark, param, say, sessionPath } from '../state/app';
import { sentence, ApiError } from '../state/api';
import { counterText } from '../data/format';
import type { Lane, SliceRef } from '../state/types';
import { HEIGHT, laneTop, rowAt, type Row } from './layout';
import { Loader } from './loader';
import {
	arrow,
	begin,
	drawCaliper,
	drawInstant,
	drawMinimap,
	drawNotes,
	drawRange,
	drawRuler,
	drawScale,
	drawSteps,
	flowColor,
	FONT,
	look,
	outline,
	RULER,
	STEPS,
	type Box,
} from './overlay';
import { mix, type Band, type Colors, type Frame, type PaintRow } from './paint';
import { byFit, eachRect, instantsOf } from './range';
import type { Store } from './store';
import type { Message } from './worker';
import { startWorker } from './start';

export interface Canvases {
	minimap: HTMLCanvasElement;
	ruler: HTMLCanvasElement;
	boxes: HTMLCanvasElement;
	overlay: HTMLCanvasElement;
}
export const MINIMAP = 48;
const GAP = 2; // css px between lanes

export class Scene {
	width = 1; // css px
	height = 1;
	scroll = 0;
	ratio = 1;
	drawMs = 0; // of the worker's last picture
	nFrames = 0;
	drag: { from: number; to: number } | null = null; // a range that is being drawn
	readonly loader: Loader;
	private readonly worker = startWorker();
	private readonly ends: (() => void)[] = [];
	private isPlanned = false;
	private hasMap = false;
	private sent: unknown[] = []; // data
	private painted: unknown[] = []; // sites and colors

	constructor(
		readonly store: Store,
		private readonly canvases: Canvases,
	) {
		this.loader = new Loader(
			() => this.onData(),
			error => {
				if (!(error instanceof ApiError && error.code === 'changed')) say(sentence(error));
			},
		);
		const canvas = canvases.boxes.transferControlToOffscreen();
		this.post({ kind: 'canvas', canvas }, [canvas]);
		this.worker.onmessage = ({ data }: MessageEvent<{ ms: number }>) => {
			this.drawMs = data.ms;
			this.nFrames++;
		};
		this.ends.push(
			effect(() => {
				void [
					store.sites.value,
					store.marks.value,
					store.view.value,
					store.layout.value,
					store.selection.value,
					store.instant.value,
					store.hover.value,
					store.range.value,
					store.steps.value,
					store.notes.value,
					store.rangeOptions.value,
					isDark.value,
					param('group'),
					facts.value,
				];
				this.plan();
			}),
		);
	}

	stop(): void {
		this.ends.forEach(end => end());
		this.loader.stop();
		this.worker.terminate();
	}

	private post(message: Message, transfer: Transferable[] = []): void {
		this.worker.postMessage(message, transfer);
	}

	resize(width: number, height: number): void {
		this.width = Math.max(1, Math.floor(width));
		this.height = Math.max(1, Math.floor(height));
		this.ratio = devicePixelRatio || 1;
		this.plan();
	}

	// Names and colors, when they are other ones. Names that the search did not find step back.
	private sendSites(): void {
		const dark = isDark.peek(),
			marks = this.store.marks.peek(),
			names = this.store.sites.peek(),
			back = parse(dark ? '#14171c' : '#ffffff');
		const wanted = [names, marks, dark, this.ratio];
		if (names !== this.painted[0]) this.post({ kind: 'sites', names: names.map(site => site.name) });
		if (wanted.every((one, i) => one === this.painted[i])) return;
		this.painted = wanted;
		const sites = Uint32Array.from(names, (site, i) => {
			const color = siteColor(site.name, site.class, dark);
			return marks && !marks.has(i) ? mix(color, back, 0.22) : color;
		});
		const classes = [HUE['kernel']!, HUE['communication']!, HUE['copy']!].map(hue =>
			mix(hueColor(hue, dark), back, 0.72),
		);
		const colors: Colors = {
			sites,
			back,
			line: parse(dark ? '#20262e' : '#eceff3'),
			classes,
			counter: hueColor(0, dark),
			counterSoft: mix(hueColor(0, dark), back, 0.25),
		};
		this.post({
			kind: 'colors',
			colors,
			font: FONT.replace('11px', `${11 * this.ratio}px`),
			ratio: this.ratio,
		});
	}

	plan(): void {
		if (!this.isPlanned) {
			this.isPlanned = true;
			requestAnimationFrame(() => {
				this.isPlanned = false;
				this.draw();
			});
		}
	}

	private onData(): void {
		this.store.isRough.value = this.loader.chunks[0]?.isRough ?? false;
		this.plan();
	}

	// ---- Where things are --------------------------------------------------------------------------------------

	get span() {
		return { ...this.store.view.peek(), width: Math.round(this.width * this.ratio) };
	}

	nsAt(x: number): number {
		const { from, to } = this.store.view.peek();
		return from + (x / this.width) * (to - from);
	}

	xAt(ns: number): number {
		const { from, to } = this.store.view.peek();
		return ((ns - from) / (to - from)) * this.width;
	}

	private top(row: Row): number {
		return row.isPinned ? row.y : row.y + this.pinned - this.scroll;
	}

	private get pinned(): number {
		return this.store.layout.peek()?.pinnedHeight ?? 0;
	}

	rowAt(y: number): Row | null {
		const layout = this.store.layout.peek();
		return (
			layout &&
			(y < this.pinned ? rowAt(layout.pinned, y) : rowAt(layout.rows, y - this.pinned + this.scroll))
		);
	}

	// What is at a point of the canvas; a box of a pixel is easier to hit with a little tolerance.
	hit(x: number, y: number): { slice: number; site: number; n: number; lane: number } | null {
		const row = this.rowAt(y),
			lane = row?.lanes[Math.floor((y - this.top(row) - row.lanesAt) / HEIGHT.lane)];
		if (!lane) return null;
		const px = x * this.ratio,
			span = this.span;
		let best: { slice: number; site: number; n: number; lane: number } | null = null,
			distance = 3 * this.ratio;
		eachRect(byFit(this.loader.all, span), lane.lane, span, (x0, x1, site, n, _, slice) => {
			const d = px < x0 ? x0 - px : px >= x1 ? px - x1 + 1 : 0;
			if (d < distance) {
				distance = d;
				best = { slice: lane.first_slice + slice, site, n, lane: lane.lane };
			}
		});
		return best;
	}

	// The instant whose triangle is at a point.
	instantAt(x: number, y: number): { id: number; site: number; n: number } | null {
		const row = this.rowAt(y);
		if (!row?.track || y - this.top(row) >= row.lanesAt) return null;
		const px = x * this.ratio,
			span = this.span;
		let best: { id: number; site: number; n: number } | null = null,
			distance = 6 * this.ratio;
		eachRect(byFit(this.loader.all, span), instantsOf(row.track.id), span, (x0, _, site, n, __, id) => {
			if (Math.abs(px - x0) < distance) {
				distance = Math.abs(px - x0);
				best = { id, site, n };
			}
		});
		return best;
	}

	// The counter at a point: the least and the most of its pixel.
	counterAt(x: number, y: number): { name: string; min: number; max: number } | null {
		const counter = this.rowAt(y)?.counter,
			ns = this.nsAt(x);
		for (const chunk of counter ? this.loader.counters : []) {
			const values = chunk.counters.get(counter!.id),
				at = Math.floor(((ns - chunk.from) / (chunk.to - chunk.from)) * chunk.px);
			if (values && at >= 0 && at < chunk.px && !Number.isNaN(values.max[at]!))
				return { name: counter!.name, min: values.min[at]!, max: values.max[at]! };
		}
		return null;
	}

	// The box of a slice in css px of the canvas, or of its track when it is folded away; null when it has no row.
	boxOf(slice: Pick<SliceRef, 'lane' | 'start_ns' | 'dur_ns' | 'track'>): Box | null {
		const layout = this.store.layout.peek();
		if (!layout) return null;
		const all = [...layout.pinned, ...layout.rows],
			found = laneTop(all, slice.lane);
		const row = found?.row ?? all.find(one => one.track?.id === slice.track);
		if (!row) return null;
		return {
			x0: this.xAt(slice.start_ns),
			x1: this.xAt(slice.start_ns + slice.dur_ns),
			y: this.top(row) + (found ? found.y - row.y : row.lanesAt),
			height: HEIGHT.lane - GAP,
		};
	}

	// ---- Drawing -------------------------------------------------------------------------------------------------

	private visible(): { pinned: Row[]; rows: Row[] } {
		const layout = this.store.layout.peek();
		if (!layout) return { pinned: [], rows: [] };
		const low = this.scroll - 200,
			high = this.scroll + this.height - this.pinned + 200;
		return {
			pinned: layout.pinned,
			rows: layout.rows.filter(row => row.y + row.height > low && row.y < high),
		};
	}

	private paintRows(rows: Row[]): PaintRow[] {
		const r = this.ratio,
			height = Math.round((HEIGHT.lane - GAP) * r);
		return rows.flatMap(row =>
			row.lanes.map((lane, i) => ({
				lane: lane.lane,
				y: Math.round((this.top(row) + row.lanesAt + i * HEIGHT.lane) * r),
				height,
			})),
		);
	}

	private instantRows(rows: Row[]): PaintRow[] {
		const r = this.ratio;
		return rows
			.filter(row => row.lanesAt)
			.map(row => ({
				lane: instantsOf(row.track!.id),
				y: Math.round((this.top(row) + 1) * r),
				height: Math.round((row.lanesAt - 3) * r),
			}));
	}

	private bands(rows: Row[]): Band[] {
		const r = this.ratio;
		return rows.flatMap((row): Band[] =>
			row.kind === 'overlap'
				? [
						{
							kind: 'overlap',
							id: row.rank ?? -1,
							y: Math.round((this.top(row) + 2) * r),
							height: Math.round(HEIGHT.overlap * r),
						},
					]
				: row.counter
					? [
							{
								kind: 'counter',
								id: row.counter.id,
								y: Math.round((this.top(row) + 2) * r),
								height: Math.round((row.height - 6) * r),
							},
						]
					: [],
		);
	}

	private draw(): void {
		const { store } = this,
			view = store.view.peek(),
			{ pinned, rows } = this.visible();
		const seen = [...pinned, ...rows],
			path = sessionPath.peek();
		if (!store.tracks.peek() || !path) return;
		this.loader.want({
			path,
			view,
			width: Math.round(this.width * this.ratio),
			end: store.end.peek(),
			generation: store.tracks.peek()!.generation ?? 0,
			lanes: [
				...new Set([
					...seen.flatMap(row => row.lanes.map(lane => lane.lane)),
					...(this.loader.whole ? [] : this.outer()),
				]),
			],
			instants: seen.flatMap(row => (row.lanesAt ? [row.track!.id] : [])),
			counters: seen.flatMap(row => (row.counter ? [row.counter.id] : [])),
			overlap: seen.some(row => row.kind === 'overlap'),
			options: store.rangeOptions.peek(),
		});
		this.drawTop();
		// A recording that grew has other numbers: the old picture stays until there is a new one.
		if (!this.loader.all.length && seen.some(row => row.lanes.length)) return;
		this.sendSites();
		const data = [...this.loader.all, ...this.loader.overlap, ...this.loader.counters];
		if (data.length !== this.sent.length || data.some((one, i) => one !== this.sent[i])) {
			this.sent = data;
			this.post({
				kind: 'data',
				chunks: this.loader.all,
				overlap: this.loader.overlap,
				counters: this.loader.counters,
			});
		}
		const frame: Frame = {
			view: this.span,
			height: Math.round(this.height * this.ratio),
			clip: Math.round(this.pinned * this.ratio),
			pinned: this.paintRows(pinned),
			rows: this.paintRows(rows),
			instants: { pinned: this.instantRows(pinned), rows: this.instantRows(rows) },
			bands: this.bands(seen),
			groupPx: param('group') === '1' ? 6 * this.ratio : 0,
		};
		this.post({ kind: 'frame', frame });
		this.drawOver();
	}

	// For the minimap: of each track the lane that has most to show.
	private outer(): number[] {
		const best = new Map<number, Lane>();
		for (const lane of this.store.tracks.peek()?.lanes ?? [])
			if (lane.n_slices > (best.get(lane.track)?.n_slices ?? 0)) best.set(lane.track, lane);
		return [...best.values()].map(lane => lane.lane);
	}

	private drawTop(): void {
		const { store, width, ratio } = this,
			style = look(isDark.peek()),
			view = store.view.peek(),
			range = this.drag ?? store.range.peek();
		const ruler = begin(this.canvases.ruler, width, RULER + STEPS, ratio);
		drawRuler(ruler, view, width, style);
		drawSteps(ruler, store.stepRow.peek(), view, width, style);
		drawNotes(ruler, store.notes.peek(), view, width, style);
		if (range) drawCaliper(ruler, range, view, width, style);
		if (!this.loader.whole && this.hasMap) return;
		this.hasMap = this.loader.whole !== null;
		const map = begin(this.canvases.minimap, width, MINIMAP, ratio);
		drawMinimap(
			map,
			this.loader.whole,
			this.outer().filter(lane => this.loader.whole?.lanes.has(lane)),
			store.sites.peek(),
			view,
			store.end.peek(),
			width,
			MINIMAP,
			style,
		);
	}

	private drawOver(): void {
		const { store, width, height, ratio } = this,
			style = look(isDark.peek()),
			view = store.view.peek();
		const ctx = begin(this.canvases.overlay, width, height, ratio),
			range = this.drag ?? store.range.peek(),
			selected = store.selection.peek(),
			hover = store.hover.peek();
		const { pinned, rows } = this.visible();
		for (const row of [...rows, ...pinned]) {
			const values = row.counter && this.loader.counters[0]?.counters.get(row.counter.id);
			if (values && (row.isPinned || this.top(row) >= this.pinned))
				drawScale(ctx, counterText(row.counter!.name)(values.highest), this.top(row), style);
		}
		if (range) drawRange(ctx, range, view, width, 0, height, style);
		if (selected) {
			const own = this.boxOf(selected);
			for (const flow of selected.flows) {
				const other = flow.slice && this.boxOf(flow.slice);
				if (!own || !other) continue;
				outline(ctx, other, flowColor(flow, style.isDark), false);
				arrow(
					ctx,
					flow.dir === 'out' ? own : other,
					flow.dir === 'out' ? other : own,
					flowColor(flow, style.isDark),
				);
			}
			if (own) outline(ctx, own, style.text, true);
		}
		const instant = store.instant.peek(),
			row = instant && [...pinned, ...rows].find(one => one.track?.id === instant.track);
		if (instant && row) drawInstant(ctx, this.xAt(instant.time_ns), this.top(row), row, style);
		if (hover) {
			ctx.fillStyle = style.line;
			ctx.fillRect(Math.round(hover.x), 0, 1, height);
		}
	}
}
