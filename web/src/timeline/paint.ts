// Boxes as pixels. One line of each lane is filled from its rectangles and copied down, so that the cost hangs on the
// pixels and hardly on the number of rectangles. No DOM: also runs in the unit tests.
import { eachRect, type Chunk, type Span } from './range';

export interface PaintRow {
	lane: number;
	y: number;
	height: number;
} // device px; may stick out at either end
export interface Band {
	kind: 'overlap' | 'counter';
	y: number;
	height: number;
	id: number;
}
export interface OverlapChunk {
	from: number;
	to: number;
	px: number;
	ranks: Map<number, Uint8Array[]>;
} // compute, communication, copy
export interface CounterChunk {
	from: number;
	to: number;
	px: number;
	counters: Map<number, { min: Float64Array; max: Float64Array; lowest: number; highest: number }>;
}

export interface Frame {
	view: Span; // width in device px
	height: number;
	clip: number; // rows start below it; the pinned ones are above
	pinned: PaintRow[];
	rows: PaintRow[];
	instants: { pinned: PaintRow[]; rows: PaintRow[] }; // lane: instantsOf a track
	bands: Band[];
	groupPx: number; // boxes narrower than this are drawn together; 0: each by itself
}

export interface Colors {
	sites: Uint32Array;
	back: number;
	line: number;
	classes: number[];
	counter: number;
	counterSoft: number;
}

// ABGR, as ImageData lies in memory on every machine that has browsers.
export const rgb = (r: number, g: number, b: number): number => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

export function mix(color: number, back: number, share: number): number {
	const part = (shift: number): number =>
		Math.round(((color >>> shift) & 255) * share + ((back >>> shift) & 255) * (1 - share)) << shift;
	return ((255 << 24) | part(16) | part(8) | part(0)) >>> 0;
}

function copyDown(pixels: Uint32Array, width: number, y: number, from: number, to: number): void {
	for (let line = from; line < to; line++)
		if (line !== y) pixels.copyWithin(line * width, y * width, (y + 1) * width);
}

// Fills one line. Wide boxes end with a pixel of the background, so that neighbors stay apart.
function paintLine(line: Uint32Array, chunks: Chunk[], lane: number, frame: Frame, colors: Colors): void {
	const { sites, back } = colors,
		{ groupPx } = frame;
	let groupEnd = -1,
		groupAt = 0;

	eachRect(chunks, lane, frame.view, (x0, x1, site, n, busy) => {
		const color = sites[site] ?? colors.line;
		const isSmall = x1 - x0 < groupPx;
		if (isSmall && groupEnd >= 0 && x0 - groupEnd <= 2) {
			line.fill(line[groupAt]!, groupEnd, x1);
			groupEnd = x1;
			return;
		}
		groupEnd = isSmall ? x1 : -1;
		groupAt = x0;
		line.fill(n > 1 && busy < 255 ? mix(color, back, 0.25 + (0.75 * busy) / 255) : color, x0, x1);
		if (x1 - x0 > 2) line[x1 - 1] = mix(color, back, 0.25);
	});
}

function paintRows(
	pixels: Uint32Array,
	rows: PaintRow[],
	chunks: Chunk[],
	frame: Frame,
	colors: Colors,
	top: number,
	bottom: number,
): void {
	const { width } = frame.view;
	for (const row of rows) {
		const from = Math.max(top, row.y),
			to = Math.min(bottom, row.y + row.height);
		if (from >= to) continue;
		paintLine(pixels.subarray(from * width, (from + 1) * width), chunks, row.lane, frame, colors);
		copyDown(pixels, width, from, from, to);
	}
}

// A triangle that points at the time of each instant.
function paintInstants(
	pixels: Uint32Array,
	rows: PaintRow[],
	chunks: Chunk[],
	frame: Frame,
	colors: Colors,
	top: number,
	bottom: number,
): void {
	const { width } = frame.view;
	for (const { lane, y, height } of rows)
		eachRect(chunks, lane, frame.view, (x0, _, site) => {
			const color = colors.sites[site] ?? colors.line;
			for (let line = Math.max(top, y); line < Math.min(bottom, y + height); line++) {
				const half = Math.round((height - 1 - (line - y)) * 0.5);
				pixels.fill(
					color,
					line * width + Math.max(0, x0 - half),
					line * width + Math.min(width, x0 + half + 1),
				);
			}
		});
}

// Shares of each pixel, stacked from below: compute, communication, copies; the rest is idle.
function paintOverlap(
	pixels: Uint32Array,
	band: Band,
	shares: Uint8Array[],
	chunk: OverlapChunk,
	frame: Frame,
	colors: Colors,
	top: number,
	bottom: number,
): void {
	const { width, from, to } = frame.view,
		perPixel = (to - from) / width;
	for (let x = 0; x < width; x++) {
		const at = Math.floor(
			((from + (x + 0.5) * perPixel - chunk.from) / (chunk.to - chunk.from)) * chunk.px,
		);
		if (at < 0 || at >= chunk.px) continue;
		let filled = 0;
		for (let kind = 0; kind < shares.length; kind++) {
			const next = Math.min(
				band.height,
				filled + Math.round((shares[kind]![at]! * band.height) / 255),
			);
			for (
				let y = Math.max(top, band.y + band.height - next);
				y < Math.min(bottom, band.y + band.height - filled);
				y++
			)
				pixels[y * width + x] = colors.classes[kind]!;
			filled = next;
		}
		for (let y = Math.max(top, band.y); y < Math.min(bottom, band.y + band.height - filled); y++)
			pixels[y * width + x] = colors.line;
	}
}

// An area up to the largest value of each pixel, its range from the smallest on darker.
function paintCounter(
	pixels: Uint32Array,
	band: Band,
	chunk: CounterChunk,
	frame: Frame,
	colors: Colors,
	top: number,
	bottom: number,
): void {
	const counter = chunk.counters.get(band.id),
		{ width, from, to } = frame.view;
	if (!counter) return;
	const low = Math.min(0, counter.lowest),
		range = counter.highest - low || 1,
		perPixel = (to - from) / width;
	const height = (value: number): number => Math.max(1, Math.round(((value - low) / range) * (band.height - 2)));
	for (let x = 0; x < width; x++) {
		const at = Math.floor(
			((from + (x + 0.5) * perPixel - chunk.from) / (chunk.to - chunk.from)) * chunk.px,
		);
		if (at < 0 || at >= chunk.px || Number.isNaN(counter.max[at]!)) continue;
		const high = height(counter.max[at]!),
			below = Math.min(high - 1, height(counter.min[at]!));
		for (
			let y = Math.max(top, band.y + band.height - high);
			y < Math.min(bottom, band.y + band.height);
			y++
		)
			pixels[y * width + x] = y < band.y + band.height - below ? colors.counter : colors.counterSoft;
	}
}

export interface Data {
	chunks: Chunk[];
	overlap: OverlapChunk[];
	counters: CounterChunk[];
}

export function paint(pixels: Uint32Array, frame: Frame, data: Data, colors: Colors): void {
	pixels.fill(colors.back);
	paintRows(pixels, frame.pinned, data.chunks, frame, colors, 0, frame.clip);
	paintRows(pixels, frame.rows, data.chunks, frame, colors, frame.clip, frame.height);
	paintInstants(pixels, frame.instants.pinned, data.chunks, frame, colors, 0, frame.clip);
	paintInstants(pixels, frame.instants.rows, data.chunks, frame, colors, frame.clip, frame.height);
	for (const band of frame.bands) {
		const isPinned = band.y + band.height <= frame.clip && band.y >= 0 && frame.clip > 0;
		const top = isPinned ? 0 : frame.clip,
			bottom = isPinned ? frame.clip : frame.height;
		if (band.kind === 'counter')
			for (const chunk of data.counters.slice().reverse())
				paintCounter(pixels, band, chunk, frame, colors, top, bottom);
		else
			for (const chunk of data.overlap.slice().reverse()) {
				const shares = chunk.ranks.get(band.id);
				if (shares) paintOverlap(pixels, band, shares, chunk, frame, colors, top, bottom);
			}
	}
}
