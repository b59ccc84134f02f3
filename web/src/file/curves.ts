// Counters and overlap as the file has them, over all of it with so many points, for the pixels of a view.
export interface Curves<T> {
	from: number; // ns
	to: number;
	answer: T | null;
}
export interface CountersData {
	px: number;
	counters: { id: number; name: string; min: (number | null)[]; max: (number | null)[] }[];
}
export interface OverlapData {
	px: number;
	ranks: { rank: number | null; compute: number[]; communication: number[]; copy: number[] }[];
}

// Points [first, behind) that a pixel of the view shows; none outside of the file's time.
function pointsOf(file: { from: number; to: number }, n: number, from: number, to: number): [number, number] {
	const scale = n / (file.to - file.from),
		first = Math.floor((from - file.from) * scale),
		behind = Math.max(first + 1, Math.floor((to - file.from) * scale));
	return [Math.max(0, first), Math.min(n, behind)];
}

function sample<V>(
	file: { from: number; to: number },
	values: V[],
	from: number,
	to: number,
	px: number,
	fold: (some: V[]) => V | null,
): (V | null)[] {
	const each = (to - from) / px;
	return Array.from({ length: px }, (_, i) => {
		const [first, behind] = pointsOf(file, values.length, from + i * each, from + (i + 1) * each);
		return first < behind ? fold(values.slice(first, behind)) : null;
	});
}

const known = (values: (number | null)[]): number[] => values.filter(value => value !== null);
const least = (values: (number | null)[]): number | null =>
	known(values).reduce<number | null>((a, b) => (a === null || b < a ? b : a), null);
const most = (values: (number | null)[]): number | null =>
	known(values).reduce<number | null>((a, b) => (a === null || b > a ? b : a), null);
const mean = (values: (number | null)[]): number =>
	Math.round(known(values).reduce((a, b) => a + b, 0) / Math.max(1, values.length));

export function counters(
	file: Curves<CountersData>,
	wanted: Set<number>,
	from: number,
	to: number,
	px: number,
): unknown {
	const shown = file.answer?.counters.filter(one => wanted.has(one.id)) ?? [];
	return {
		px,
		counters: shown.map(({ id, name, min, max }) => {
			const low = sample(file, min, from, to, px, least),
				high = sample(file, max, from, to, px, most);
			return { id, name, min: low, max: high, lowest: least(low), highest: most(high) };
		}),
	};
}

export function overlap(file: Curves<OverlapData>, from: number, to: number, px: number): unknown {
	const shares = (values: number[]): number[] =>
		sample<number>(file, values, from, to, px, mean).map(value => value ?? 0);
	return {
		px,
		ranks: (file.answer?.ranks ?? []).map(({ rank, compute, communication, copy }) => ({
			rank,
			compute: shares(compute),
			communication: shares(communication),
			copy: shares(copy),
		})),
	};
}
