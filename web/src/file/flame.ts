// Who calls a name and what it calls, out of the merged tree: what the server answers for mode=callers and mode=callees.
import type { Answer } from '../flame/tree';

export function around(all: Answer, name: string, isCallers: boolean): Answer {
	const wanted = all.names.indexOf(name),
		ids = new Map<string, number>();
	const out: Answer = {
		unit: all.unit,
		total: 0,
		names: all.names,
		classes: all.classes,
		name: [],
		parent: [],
		value: [],
		self: [],
		count: [],
		cut: all.cut ?? null,
	};
	const add = (parent: number, site: number, value: number, self: number, count: number): number => {
		const key = `${parent} ${site}`;
		let id = ids.get(key);
		if (id === undefined) {
			ids.set(key, (id = out.parent.length));
			out.name.push(site);
			out.parent.push(parent);
			out.value.push(0);
			out.self.push(0);
			out.count.push(0);
		}
		out.value[id]! += value;
		out.self[id]! += self;
		out.count[id]! += count;
		return id;
	};
	const placed = new Int32Array(all.parent.length).fill(-1); // of callees: its node in the answer
	for (let i = 0; i < all.parent.length; i++) {
		const parent = all.parent[i]!,
			above = parent >= 0 ? placed[parent]! : -1;
		if (!isCallers && above >= 0)
			placed[i] = add(above, all.name[i]!, all.value[i]!, all.self[i]!, all.count[i]!);
		if (all.name[i] !== wanted || above >= 0) continue;
		if (isCallers && hasAbove(all, i)) continue; // its time is in the outer one's
		out.total += all.value[i]!;
		let at = add(-1, wanted, all.value[i]!, all.self[i]!, all.count[i]!);
		placed[i] = at;
		for (let p = parent; isCallers && p >= 0; p = all.parent[p]!)
			at = add(at, all.name[p]!, all.value[i]!, 0, all.count[i]!);
	}
	return out;
}

function hasAbove(all: Answer, node: number): boolean {
	for (let p = all.parent[node]!; p >= 0; p = all.parent[p]!) if (all.name[p] === all.name[node]) return true;
	return false;
}
