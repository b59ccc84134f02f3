// Draws the timeline's boxes and their labels into an OffscreenCanvas, away from the page's thread.
import { shortName, textOn } from '../data/colors';
import { byFit, eachRect, type Chunk } from './range';
import {
	paint,
	type Colors,
	type CounterChunk,
	type Data,
	type Frame,
	type OverlapChunk,
	type PaintRow,
} from './paint';

export type Message =
	| { kind: 'canvas'; canvas: OffscreenCanvas }
	| { kind: 'sites'; names: string[] }
	| { kind: 'colors'; colors: Colors; font: string; ratio: number }
	| { kind: 'data'; chunks: Chunk[]; overlap: OverlapChunk[]; counters: CounterChunk[] }
	| { kind: 'frame'; frame: Frame };

const LABEL_FROM = 26; // css px
let canvas: OffscreenCanvas | null = null;
let context: OffscreenCanvasRenderingContext2D | null = null;
let image: ImageData | null = null;
let names: string[] = [];
let shown: string[] = [];
let widths = new Map<number, number>(); // of whole labels, by site
const parts = new Map<string, number>(); // of cut labels
let colors: Colors | null = null;
let font = '';
let ratio = 1;
let data: Data = { chunks: [], overlap: [], counters: [] };
let frame: Frame | null = null;
let isPlanned = false;

// So many characters at most, and as many as fit.
function cut(text: string, most: number, width: number): string {
	for (let n = most; n >= 3; n--) {
		const part = text.slice(0, n) + '…';
		let length = parts.get(part);
		if (length === undefined) {
			if (parts.size > 20000) parts.clear();
			parts.set(part, (length = context!.measureText(part).width));
		}
		if (length <= width) return part;
	}
	return '';
}

function label(site: number, n: number, width: number): string {
	const text = (shown[site] ??= shortName(names[site] ?? '')) + (n > 1 ? ` ×${n >= 0xffffff ? 'many' : n}` : '');
	let full = n === 1 ? widths.get(site) : undefined;
	if (full === undefined) {
		full = context!.measureText(text).width;
		if (n === 1) widths.set(site, full);
	}
	if (full <= width) return text;
	return cut(text, Math.min(text.length - 1, Math.floor(width / (full / text.length))), width);
}

function labels(rows: PaintRow[], sorted: Chunk[], top: number, bottom: number): void {
	const ctx = context!;
	ctx.save();
	ctx.beginPath();
	ctx.rect(0, top, frame!.view.width, bottom - top);
	ctx.clip();
	for (const row of rows) {
		if (row.y + row.height <= top || row.y >= bottom) continue;
		eachRect(sorted, row.lane, frame!.view, (x0, x1, site, n) => {
			if (x1 - x0 < LABEL_FROM * ratio) return;
			const text = label(site, n, x1 - x0 - 7 * ratio);
			if (text) {
				ctx.fillStyle = textOn(colors!.sites[site] ?? colors!.line);
				ctx.fillText(text, x0 + 4 * ratio, row.y + row.height / 2 + 0.5 * ratio);
			}
		});
	}
	ctx.restore();
}

function draw(): void {
	isPlanned = false;
	if (!canvas || !context || !colors || !frame || frame.view.width < 1 || frame.height < 1) return;
	const start = performance.now();
	if (!image || image.width !== frame.view.width || image.height !== frame.height) {
		canvas.width = frame.view.width;
		canvas.height = frame.height;
		image = new ImageData(frame.view.width, frame.height);
	}
	const sorted = byFit(data.chunks, frame.view);
	paint(new Uint32Array(image.data.buffer), frame, { ...data, chunks: sorted }, colors);
	context.putImageData(image, 0, 0);
	context.font = font;
	context.textBaseline = 'middle';
	labels(frame.pinned, sorted, 0, frame.clip);
	labels(frame.rows, sorted, frame.clip, frame.height);
	postMessage({ ms: performance.now() - start });
}

// Several messages of one turn make one picture.
function plan(): void {
	if (!isPlanned) {
		isPlanned = true;
		(self.requestAnimationFrame ?? ((run: () => void) => setTimeout(run, 0)))(draw);
	}
}

onmessage = ({ data: message }: MessageEvent<Message>): void => {
	switch (message.kind) {
		case 'canvas':
			canvas = message.canvas;
			context = canvas.getContext('2d', { alpha: false });
			break;
		case 'sites':
			names = message.names;
			shown = [];
			widths = new Map();
			break;
		case 'colors':
			({ colors, font, ratio } = message);
			widths = new Map();
			parts.clear();
			break;
		case 'data':
			data = message;
			break;
		case 'frame':
			({ frame } = message);
			break;
	}
	plan();
};
