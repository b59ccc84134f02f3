// What is drawn over and beside the boxes: ruler, steps, notes, minimap, selection, arrows.
import * as format from '../data/format';
import { HUE, hueColor, siteColor, css as cssColor } from '../data/colors';
import type { Flow, Site, Step, TimeNote } from '../state/types';
import { eachRect, type Chunk } from './range';
import { ticks, type Viewport } from './viewport';

export interface Look {
	text: string;
	quiet: string;
	line: string;
	faint: string;
	back: string;
	panel: string;
	accent: string;
	isDark: boolean;
}

export function look(isDark: boolean): Look {
	const style = getComputedStyle(document.documentElement),
		get = (name: string): string => style.getPropertyValue(name).trim();
	return {
		text: get('--text'),
		quiet: get('--quiet'),
		line: get('--line'),
		faint: get('--faint'),
		back: get('--back'),
		panel: get('--panel'),
		accent: get('--accent'),
		isDark,
	};
}

export const FONT = '11px system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
export const RULER = 22,
	STEPS = 20;

// A canvas of css size, cleared, to be drawn in css pixels.
export function begin(
	canvas: HTMLCanvasElement,
	width: number,
	height: number,
	ratio: number,
): CanvasRenderingContext2D {
	const w = Math.round(width * ratio),
		h = Math.round(height * ratio);
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
	}
	const ctx = canvas.getContext('2d')!;
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.clearRect(0, 0, width, height);
	ctx.font = FONT;
	ctx.textBaseline = 'middle';
	return ctx;
}

const xOf = (ns: number, view: Viewport, width: number): number => ((ns - view.from) / (view.to - view.from)) * width;

export function drawRuler(ctx: CanvasRenderingContext2D, view: Viewport, width: number, look: Look): void {
	const { step, ticks: list } = ticks(view, width);
	ctx.fillStyle = look.quiet;
	for (const tick of list) {
		const x = Math.round(xOf(tick.ns, view, width));
		ctx.fillStyle = tick.isMajor ? look.quiet : look.line;
		ctx.fillRect(x, tick.isMajor ? RULER - 9 : RULER - 4, 1, tick.isMajor ? 9 : 4);
		if (tick.isMajor) {
			ctx.fillStyle = look.quiet;
			ctx.fillText(format.at(tick.ns, step), x + 4, 9);
		}
	}
}

export function drawSteps(
	ctx: CanvasRenderingContext2D,
	steps: Step[],
	view: Viewport,
	width: number,
	look: Look,
): void {
	let lastX = -1;
	for (const step of steps) {
		const x0 = xOf(step.start_ns, view, width),
			x1 = xOf(step.start_ns + step.dur_ns, view, width);
		if (x1 < 0 || x0 > width || (Math.floor(x1) <= lastX && x1 - x0 < 1)) continue;
		lastX = Math.floor(x1);
		const a = Math.max(0, Math.round(x0)),
			b = Math.min(width, Math.max(Math.round(x1), a + 1));
		ctx.fillStyle = step.number % 2 ? look.faint : look.line;
		ctx.fillRect(a, RULER, b - a - (b - a > 3 ? 1 : 0), STEPS - 2);
		const text = `step ${step.number}`,
			short = String(step.number),
			room = b - a - 8;
		const label =
			ctx.measureText(text).width <= room ? text : ctx.measureText(short).width <= room ? short : '';
		if (label) {
			ctx.fillStyle = look.text;
			ctx.fillText(label, a + 4, RULER + STEPS / 2 - 1);
		}
	}
}

export function drawNotes(
	ctx: CanvasRenderingContext2D,
	notes: TimeNote[],
	view: Viewport,
	width: number,
	look: Look,
): void {
	for (const note of notes) {
		const x0 = xOf(note.from_ns, view, width),
			x1 = Math.max(xOf(note.to_ns, view, width), x0 + 2);
		if (x1 < 0 || x0 > width) continue;
		ctx.fillStyle = cssColor(hueColor(3, look.isDark));
		ctx.fillRect(Math.max(0, x0), RULER - 3, Math.min(width, x1) - Math.max(0, x0), 3);
		ctx.fillRect(Math.max(0, x0), RULER - 12, 2, 12);
	}
}

// Rows of the minimap are the outermost lanes, each a few pixels high, and the part in sight is clear.
export function drawMinimap(
	ctx: CanvasRenderingContext2D,
	whole: Chunk | null,
	lanes: number[],
	sites: Site[],
	view: Viewport,
	end: number,
	width: number,
	height: number,
	look: Look,
): void {
	if (whole && lanes.length) {
		const each = Math.max(1, Math.min(8, Math.floor((height - 2) / Math.min(lanes.length, height - 2))));
		const shown = lanes.slice(0, Math.floor((height - 2) / each));
		const known = new Map<number, string>();
		shown.forEach((lane, i) =>
			eachRect(
				[whole],
				lane,
				{ from: 0, to: end, width: Math.round(width) },
				(x0, x1, site, n, busy) => {
					let color = known.get(site);
					if (!color)
						known.set(
							site,
							(color = cssColor(
								siteColor(
									sites[site]?.name ?? '',
									sites[site]?.class ?? 'other',
									look.isDark,
								),
							)),
						);
					ctx.globalAlpha = n > 1 ? 0.3 + (0.7 * busy) / 255 : 1;
					ctx.fillStyle = color;
					ctx.fillRect(x0, 1 + i * each, x1 - x0, Math.max(1, each - (each > 2 ? 1 : 0)));
				},
			),
		);
		ctx.globalAlpha = 1;
	}
	const x0 = (view.from / end) * width,
		x1 = Math.max((view.to / end) * width, x0 + 2);
	ctx.fillStyle = look.isDark ? 'rgb(0 0 0 / .5)' : 'rgb(215 222 230 / .65)';
	ctx.fillRect(0, 0, x0, height);
	ctx.fillRect(x1, 0, width - x1, height);
	ctx.strokeStyle = look.accent;
	ctx.lineWidth = 1;
	ctx.strokeRect(
		Math.max(0.5, x0 + 0.5),
		0.5,
		Math.max(1, Math.min(width - 1, x1) - Math.max(0.5, x0) - 0.5),
		height - 1,
	);
}

export interface Box {
	x0: number;
	x1: number;
	y: number;
	height: number;
}

export function outline(ctx: CanvasRenderingContext2D, box: Box, color: string, isStrong: boolean): void {
	const width = isStrong ? 2 : 1,
		x0 = Math.max(-4, box.x0),
		x1 = Math.min(ctx.canvas.width + 4, Math.max(box.x1, x0 + 2));
	ctx.strokeStyle = color;
	ctx.lineWidth = width;
	ctx.strokeRect(x0 + width / 2, box.y + width / 2, Math.max(1, x1 - x0 - width), box.height - width);
}

// The instant that is selected: around its triangle, and down its row.
export function drawInstant(
	ctx: CanvasRenderingContext2D,
	x: number,
	top: number,
	row: { height: number; lanesAt: number },
	look: Look,
): void {
	const half = row.lanesAt / 2;
	ctx.strokeStyle = look.text;
	ctx.lineWidth = 1.5;
	ctx.beginPath();
	ctx.moveTo(x - half, top);
	ctx.lineTo(x + half, top);
	ctx.lineTo(x, top + row.lanesAt - 1);
	ctx.closePath();
	ctx.stroke();
	ctx.fillStyle = look.text;
	ctx.fillRect(Math.round(x), top + row.lanesAt, 1, Math.max(0, row.height - row.lanesAt - 4));
}

// From the end of the one to the start of the other, with a head.
export function arrow(ctx: CanvasRenderingContext2D, from: Box, to: Box, color: string): void {
	const x0 = from.x1 < to.x0 ? Math.max(from.x0, Math.min(from.x1, to.x0)) : from.x0,
		y0 = from.y + from.height / 2;
	const x1 = to.x0,
		y1 = to.y + to.height / 2,
		bend = Math.max(24, Math.min(120, Math.abs(x1 - x0) / 2));
	ctx.strokeStyle = color;
	ctx.fillStyle = color;
	ctx.lineWidth = 1.5;
	ctx.beginPath();
	ctx.moveTo(x0, y0);
	ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
	ctx.stroke();
	ctx.beginPath();
	ctx.moveTo(x1, y1);
	ctx.lineTo(x1 - 7, y1 - 4);
	ctx.lineTo(x1 - 7, y1 + 4);
	ctx.fill();
}

export const flowColor = (flow: Flow, isDark: boolean): string =>
	cssColor(hueColor(flow.kind === 'launch' ? HUE['kernel']! : HUE['data_load']!, isDark));

// The largest value in sight, where the curve reaches it.
export function drawScale(ctx: CanvasRenderingContext2D, text: string, top: number, look: Look): void {
	const width = ctx.measureText(text).width + 8;
	ctx.globalAlpha = 0.8;
	ctx.fillStyle = look.back;
	ctx.fillRect(4, top + 3, width, 15);
	ctx.globalAlpha = 1;
	ctx.fillStyle = look.quiet;
	ctx.fillText(text, 8, top + 11);
}

// A range with its length, as a caliper across the ruler.
export function drawRange(
	ctx: CanvasRenderingContext2D,
	range: Viewport,
	view: Viewport,
	width: number,
	top: number,
	height: number,
	look: Look,
): void {
	const x0 = xOf(range.from, view, width),
		x1 = xOf(range.to, view, width);
	ctx.fillStyle = look.isDark ? 'rgb(126 177 255 / .14)' : 'rgb(31 95 191 / .10)';
	ctx.fillRect(x0, top, x1 - x0, height);
	ctx.fillStyle = look.accent;
	ctx.fillRect(x0, top, 1, height);
	ctx.fillRect(x1 - 1, top, 1, height);
}

export function drawCaliper(
	ctx: CanvasRenderingContext2D,
	range: Viewport,
	view: Viewport,
	width: number,
	look: Look,
): void {
	const x0 = xOf(range.from, view, width),
		x1 = xOf(range.to, view, width),
		text = format.ns(range.to - range.from);
	const a = Math.max(0, x0),
		b = Math.min(width, x1),
		w = ctx.measureText(text).width + 10;
	if (b < a) return;
	ctx.fillStyle = look.accent;
	ctx.fillRect(a, RULER - 2, b - a, 2);
	const at = Math.max(0, Math.min(width - w, (a + b) / 2 - w / 2));
	ctx.fillRect(at, 1, w, 17);
	ctx.fillStyle = look.back;
	ctx.fillText(text, at + 5, 10);
}
