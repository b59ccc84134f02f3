// Rectangles as the server sends them: at most one a pixel for each lane, and instants as such of a pixel for each
// track; docs/api.md has the layout.

export const RECT_WORDS = 4; // x | width << 16, site, n_slices | busy << 24, slice - the lane's first
const MAGIC = 0x31524e53; // "SNR1"

export interface Chunk {
	from: number; // ns, what pixels [0, px) show
	to: number;
	px: number;
	words: Uint32Array; // rectangles of all lanes
	lanes: Map<number, { at: number; n: number }>; // first rectangle, how many
	isRough: boolean; // a filter has hidden more than it should
}

// The instants of a track are found where a lane of this number would be.
export const instantsOf = (track: number): number => -1 - track;

// wanted: the lanes (or instantsOf tracks) that were asked for; one that has nothing here is known to have nothing.
export function decode(buffer: ArrayBuffer, from: number, to: number, px: number, wanted: number[]): Chunk {
	const bad = (): Error => new Error('The server sent invalid rectangles.');
	if (buffer.byteLength < 8 || buffer.byteLength % 4) throw bad();
	const all = new Uint32Array(buffer);
	const n = all[1]!;
	if (all[0] !== MAGIC || 2 + 2 * n > all.length) throw bad();
	const lanes: Chunk['lanes'] = new Map(wanted.map(lane => [lane, { at: 0, n: 0 }]));
	let at = 0;
	for (let i = 0; i < n; i++) {
		lanes.set(all[2 + 2 * i]!, { at, n: all[3 + 2 * i]! });
		at += all[3 + 2 * i]!;
	}
	const words = all.subarray(2 + 2 * n);
	if ((at + 1) * RECT_WORDS > words.length) throw bad();
	const flags = words[at * RECT_WORDS]!,
		nTracks = words[at * RECT_WORDS + 1]!;
	let first = at + 1 + nTracks;
	for (let i = at + 1; i <= at + nTracks; i++) {
		const track = words[i * RECT_WORDS],
			n = words[i * RECT_WORDS + 1];
		if (track === undefined || n === undefined || (first + n) * RECT_WORDS > words.length) throw bad();
		lanes.set(instantsOf(track), { at: first, n });
		first += n;
	}
	return { from, to, px, words, lanes, isRough: (flags & 1) !== 0 };
}

export interface Span {
	from: number;
	to: number;
	width: number;
} // ns, px
export type RectVisitor = (x0: number, x1: number, site: number, n: number, busy: number, slice: number) => void;

// Index of the first rectangle of a lane whose end is right of pixel x.
function firstAfter(words: Uint32Array, at: number, n: number, x: number): number {
	let low = 0,
		high = n;
	while (low < high) {
		const mid = (low + high) >>> 1,
			word = words[(at + mid) * RECT_WORDS]!;
		if ((word & 0xffff) + (word >>> 16) > x) high = mid;
		else low = mid + 1;
	}
	return low;
}

function visitChunk(
	chunk: Chunk,
	lane: { at: number; n: number },
	view: Span,
	low: number,
	high: number,
	visit: RectVisitor,
): void {
	const perPixel = (chunk.to - chunk.from) / chunk.px,
		scale = view.width / (view.to - view.from);
	const edge = (x: number): number => Math.round((chunk.from + x * perPixel - view.from) * scale);
	const left = Math.round((low - view.from) * scale),
		right = Math.round((high - view.from) * scale);
	const end = (high - chunk.from) / perPixel,
		{ words } = chunk;

	for (let i = firstAfter(words, lane.at, lane.n, (low - chunk.from) / perPixel); i < lane.n; i++) {
		const w = (lane.at + i) * RECT_WORDS,
			x = words[w]! & 0xffff;
		if (x >= end) return;
		const x0 = Math.max(left, edge(x)),
			x1 = Math.min(right, Math.max(edge(x + (words[w]! >>> 16)), x0 + 1));
		if (x1 > x0)
			visit(x0, x1, words[w + 1]!, words[w + 2]! & 0xffffff, words[w + 2]! >>> 24, words[w + 3]!);
	}
}

// The rectangles of a lane from left to right, in pixels of the view: from the first chunk that has a part of it, the
// rest from the next. So the coarse picture stays until the fine one is there.
export function eachRect(
	chunks: Chunk[],
	lane: number,
	view: Span,
	visit: RectVisitor,
	low = view.from,
	high = view.to,
	first = 0,
): void {
	for (let i = first; i < chunks.length; i++) {
		const chunk = chunks[i]!,
			head = chunk.lanes.get(lane);
		const a = Math.max(low, chunk.from),
			b = Math.min(high, chunk.to);
		if (!head || a >= b) continue;
		if (low < a) eachRect(chunks, lane, view, visit, low, a, i + 1);
		visitChunk(chunk, head, view, a, b, visit);
		if (b < high) eachRect(chunks, lane, view, visit, b, high, i + 1);
		return;
	}
}

// The chunk whose pixels are nearest to those of the view first; of equals the newer, which is the earlier one.
export function byFit(chunks: Chunk[], view: Span): Chunk[] {
	const scale = (span: { from: number; to: number }, px: number): number => Math.log((span.to - span.from) / px);
	const own = scale(view, view.width);
	const distance = (chunk: Chunk): number => Math.abs(scale(chunk, chunk.px) - own);
	return chunks
		.map((chunk, i) => ({ chunk, i, d: Math.round(distance(chunk) * 1e6) }))
		.sort((a, b) => a.d - b.d || a.i - b.i)
		.map(one => one.chunk);
}

// "0-4,7,9-10"
export function laneList(lanes: number[]): string {
	const sorted = [...lanes].sort((a, b) => a - b),
		parts: string[] = [];
	for (let i = 0; i < sorted.length;) {
		let j = i;
		while (j + 1 < sorted.length && sorted[j + 1]! <= sorted[j]! + 1) j++;
		parts.push(j > i ? `${sorted[i]}-${sorted[j]}` : String(sorted[i]));
		i = j + 1;
	}
	return parts.join(',');
}
