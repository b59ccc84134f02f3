// What part of the trace is seen: whole nanoseconds, always within the trace and never shorter than MIN_SPAN.

export interface Viewport {
	from: number;
	to: number;
}
const MIN_SPAN = 20;

export function clamp(view: Viewport, end: number): Viewport {
	const span = Math.max(MIN_SPAN, Math.min(Math.round(view.to - view.from), Math.max(end, MIN_SPAN)));
	const from = Math.max(0, Math.min(Math.round(view.from), Math.max(end, MIN_SPAN) - span));
	return { from, to: from + span };
}

// At a share 0..1 of the width, which stays where it is.
export function zoom(view: Viewport, factor: number, at: number, end: number): Viewport {
	const span = view.to - view.from,
		fixed = view.from + at * span;
	const wanted = Math.max(MIN_SPAN, Math.min(span * factor, Math.max(end, MIN_SPAN)));
	return clamp({ from: fixed - at * wanted, to: fixed + (1 - at) * wanted }, end);
}

export const pan = (view: Viewport, ns: number, end: number): Viewport =>
	clamp({ from: view.from + Math.round(ns), to: view.to + Math.round(ns) }, end);

// A range with a margin around it.
export function fit(from: number, to: number, end: number, margin = 0.1): Viewport {
	const room = Math.max((to - from) * margin, MIN_SPAN / 2);
	return clamp({ from: from - room, to: to + room }, end);
}

// Moves as little as needed to have the range in sight; goes to it when it does not fit or is a speck.
export function reveal(view: Viewport, from: number, to: number, end: number): Viewport {
	const span = view.to - view.from;
	if (to - from > span * 0.9 || (to - from < span / 400 && to - from > 0)) return fit(from, to, end, 2);
	if (from >= view.from + span * 0.05 && to <= view.to - span * 0.05) return view;
	const center = (from + to) / 2;
	return clamp({ from: center - span / 2, to: center + span / 2 }, end);
}

// ---- Ruler -----------------------------------------------------------------------------------------------------------

export interface Tick {
	ns: number;
	isMajor: boolean;
}

// Round steps of 1, 2 or 5 with at least minPx between labels; five or four unlabeled parts each.
export function ticks(view: Viewport, width: number, minPx = 110): { step: number; ticks: Tick[] } {
	const least = Math.max(1, ((view.to - view.from) / Math.max(1, width)) * minPx);
	const power = 10 ** Math.floor(Math.log10(least));
	const step = Math.max(1, Math.round([1, 2, 5, 10].map(m => m * power).find(s => s >= least * (1 - 1e-9))!));
	const parts = step % 5 === 0 ? 5 : step % 4 === 0 ? 4 : step % 2 === 0 ? 2 : 1;
	const result: Tick[] = [];
	const minor = step / parts;
	for (let i = Math.floor(view.from / minor); i * minor <= view.to; i++)
		result.push({ ns: i * minor, isMajor: i % parts === 0 });
	return { step, ticks: result };
}
