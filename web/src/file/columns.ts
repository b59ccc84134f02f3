// Slices as `sonde timeline` writes them into a file: docs/sonde-timeline.md has the layout.
import type { InstantMark } from './links';

export interface LaneSlices {
	lane: number;
	track: number;
	depth: number;
	group: number;
	first: number; // id of the first
	start: Float64Array; // ns
	dur: Float64Array;
	site: Uint32Array;
	count: Uint32Array; // more than 1: so many short ones as one, which takes `busy` of its duration
	busy: Float64Array;
	args: Int32Array; // record of its arguments, -1: none
}

export interface LaneHead {
	lane: number;
	track: number;
	depth: number;
	group: number;
	n: number;
	first_slice: number;
}

export function bytesOf(base64: string): Uint8Array {
	const text = atob(base64),
		bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
	return bytes;
}

// Numbers of 7 bits a byte, the lowest first.
export class Numbers {
	constructor(
		private readonly bytes: Uint8Array,
		public at = 0,
	) {}

	next(): number {
		let value = 0,
			scale = 1;
		for (;;) {
			const byte = this.bytes[this.at++] ?? 0;
			value += (byte & 127) * scale;
			if (byte < 128) return value;
			scale *= 128;
		}
	}

	signed(): number {
		const value = this.next();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}
}

// For each slice: start since the one before began, duration, site * 4 (+ 2: it has a record of arguments, one behind the
// other) or, of several as one, site * 4 + 1, their number and what they take.
export function readLanes(bytes: Uint8Array, heads: LaneHead[]): LaneSlices[] {
	const numbers = new Numbers(bytes);
	let nArgs = 0;
	return heads.map(head => {
		const slices: LaneSlices = {
			lane: head.lane,
			track: head.track,
			depth: head.depth,
			group: head.group,
			first: head.first_slice,
			start: new Float64Array(head.n),
			dur: new Float64Array(head.n),
			site: new Uint32Array(head.n),
			count: new Uint32Array(head.n),
			busy: new Float64Array(head.n),
			args: new Int32Array(head.n).fill(-1),
		};
		let start = 0;
		for (let i = 0; i < head.n; i++) {
			slices.start[i] = start += numbers.next();
			slices.dur[i] = numbers.next();
			const word = numbers.next(),
				flags = word % 4;
			slices.site[i] = (word - flags) / 4;
			if (flags & 2) slices.args[i] = nArgs++;
			slices.count[i] = flags & 1 ? numbers.next() : 1;
			slices.busy[i] = flags & 1 ? numbers.next() : slices.dur[i]!;
		}
		return slices;
	});
}

// The first slice that ends after ns; ends are in order on a lane.
export function firstEnding(lane: LaneSlices, ns: number): number {
	let low = 0,
		high = lane.start.length;
	while (low < high) {
		const mid = (low + high) >>> 1;
		if (lane.start[mid]! + lane.dur[mid]! > ns) high = mid;
		else low = mid + 1;
	}
	return low;
}

// One a pixel, with their number; at the very end of the view, too.
function instantRects(marks: InstantMark[], from: number, to: number, px: number): number[] {
	const words: number[] = [];
	let last = -1;
	for (const mark of marks) {
		if (mark.time < from || mark.time > to) continue;
		const x = Math.min(px - 1, Math.floor(((mark.time - from) / (to - from)) * px)),
			w = words.length - 4;
		if (x === last) words[w + 2] = Math.min(MANY, (words[w + 2]! & MANY) + mark.n) | (255 << 24);
		else words.push(x | (1 << 16), mark.site, Math.min(MANY, mark.n) | (255 << 24), mark.id);
		last = x;
	}
	return words;
}

const MAGIC = 0x31524e53;
const MANY = 0xffffff;

// As the server's /range: at most one rectangle a pixel. What is shorter than a pixel shares it with its neighbors.
export function range(
	lanes: LaneSlices[],
	from: number,
	to: number,
	px: number,
	isHidden: (lane: LaneSlices, i: number) => boolean,
	instants: { track: number; marks: InstantMark[] }[] = [],
): ArrayBuffer {
	const words: number[] = [],
		heads: number[] = [],
		scale = px / (to - from);
	for (const lane of lanes) {
		let n = 0,
			lastX = -1,
			lastLongest = 0;
		for (let i = firstEnding(lane, from); i < lane.start.length && lane.start[i]! < to; i++) {
			if (isHidden(lane, i)) continue;
			const x0 = Math.max(0, Math.floor((lane.start[i]! - from) * scale)),
				x1 = Math.min(
					px,
					Math.max(x0 + 1, Math.floor((lane.start[i]! + lane.dur[i]! - from) * scale)),
				);
			const width = Math.max(1, x1 - x0),
				share = Math.min(255, Math.round((255 * lane.busy[i]! * scale) / width)),
				longest = lane.count[i]! > 1 ? lane.busy[i]! / lane.count[i]! : lane.dur[i]!;
			const w = words.length - 4;
			if (n && x0 < lastX) {
				// its pixel is taken
				if (width === 1 || x0 + 1 >= x1) {
					const old = words[w + 2]!,
						isLonger = longest > lastLongest;
					words[w + 2] =
						Math.min(MANY, (old & MANY) + lane.count[i]!) |
						(Math.min(255, (old >>> 24) + share) << 24);
					if (isLonger && words[w]! >>> 16 === 1) {
						words[w + 1] = lane.site[i]!;
						lastLongest = longest;
					}
					continue;
				}
				words.push(
					lastX | ((x1 - lastX) << 16),
					lane.site[i]!,
					Math.min(MANY, lane.count[i]!) | (share << 24),
					i,
				);
			} else
				words.push(
					x0 | (width << 16),
					lane.site[i]!,
					Math.min(MANY, lane.count[i]!) | (share << 24),
					i,
				);
			n++;
			lastX = x1;
			lastLongest = longest;
		}
		heads.push(lane.lane, n);
	}
	const seen = instants.map(one => ({ track: one.track, rects: instantRects(one.marks, from, to, px) }));
	words.push(0, seen.length, 0, 0);
	for (const { track, rects } of seen) words.push(track, rects.length / 4, 0, 0);
	for (const { rects } of seen) words.push(...rects);
	return Uint32Array.from([MAGIC, lanes.length, ...heads].concat(words), word => word >>> 0).buffer;
}
