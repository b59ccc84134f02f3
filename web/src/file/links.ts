// Arrows and instants as `sonde timeline` writes them into a file.
import { groupBy } from '../data/group';
import { bytesOf, Numbers } from './columns';

export interface Arrow {
	site: number; // -1: a launch
	from: number; // boxes
	to: number;
}

export interface InstantMark {
	id: number;
	track: number;
	time: number;
	site: number;
	n: number;
	args: number; // record, -1: none
}

export class Arrows {
	private readonly from: Map<number, Arrow[]>;
	private readonly to: Map<number, Arrow[]>;

	constructor(data: { n: number; bytes: string }) {
		const numbers = new Numbers(bytesOf(data.bytes)),
			all: Arrow[] = [];
		let last = 0;
		for (let i = 0; i < data.n; i++) {
			const site = numbers.next() - 1,
				from = (last += numbers.signed());
			all.push({ site, from, to: from + numbers.signed() });
		}
		this.from = groupBy(all, one => one.from);
		this.to = groupBy(all, one => one.to);
	}

	of(box: number): { arrow: Arrow; isOut: boolean }[] {
		return [
			...(this.to.get(box) ?? []).map(arrow => ({ arrow, isOut: false })),
			...(this.from.get(box) ?? []).map(arrow => ({ arrow, isOut: true })),
		];
	}
}

// firstArgs: the record of the first that has some; those of slices lie before it.
export function readInstants(
	data: { tracks: { track: number; n: number }[]; bytes: string },
	firstArgs: number,
): InstantMark[] {
	const numbers = new Numbers(bytesOf(data.bytes)),
		all: InstantMark[] = [];
	for (const { track, n } of data.tracks) {
		let time = 0;
		for (let i = 0; i < n; i++) {
			time += numbers.next();
			const word = numbers.next(),
				hasArgs = word % 2 === 1;
			all.push({
				id: all.length,
				track,
				time,
				site: (word - (hasArgs ? 1 : 0)) / 2,
				n: numbers.next(),
				args: hasArgs ? firstArgs++ : -1,
			});
		}
	}
	return all;
}
