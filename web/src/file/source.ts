// Answers what the page asks, out of what the file holds instead of a server.
import type { Answer } from '../flame/tree';
import type { Flow, Instant, Site, Slice, SliceRef } from '../state/types';
import { groupBy } from '../data/group';
import { Args, type ArgsData } from './args';
import { bytesOf, firstEnding, range, readLanes, type LaneHead, type LaneSlices } from './columns';
import { counters, overlap, type CountersData, type Curves, type OverlapData } from './curves';
import { around } from './flame';
import { Arrows, readInstants, type InstantMark } from './links';

export interface FileData {
	note: string; // what was left out
	answers: Record<string, unknown>; // by path
	flame?: { by: string; merged: Answer; ordered?: Answer };
	slices?: { lanes: LaneHead[]; bytes: string; is_whole: boolean }; // whole: no slice was left out of the lanes
	args?: ArgsData;
	arrows?: { n: number; bytes: string };
	instants?: { tracks: { track: number; n: number }[]; bytes: string };
	counters?: Curves<CountersData>;
	overlap?: Curves<OverlapData>;
}

// "0-4,7"
function numbersOf(list: string | null): Set<number> {
	const numbers = new Set<number>();
	for (const part of (list ?? '').split(',').filter(Boolean)) {
		const [first, last] = part.split('-').map(Number);
		for (let one = first!; one <= (last ?? first!); one++) numbers.add(one);
	}
	return numbers;
}

const json = (body: unknown, status = 200): Response =>
	new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });
const refuse = (status: number, message: string): Response => json({ error: { code: 'not-here', message } }, status);
const S = '/sessions/1';

class Timeline {
	private readonly lanes: LaneSlices[];
	private readonly sites: Site[];
	private readonly isWhole: boolean;
	private readonly args: Args | null;
	private readonly arrows: Arrows | null;
	private readonly instants: InstantMark[];
	private readonly perTrack: Map<number, InstantMark[]>;

	constructor(data: FileData) {
		this.lanes = readLanes(bytesOf(data.slices!.bytes), data.slices!.lanes);
		this.sites = (data.answers[`${S}/sites`] as { sites: Site[] }).sites;
		this.isWhole = data.slices!.is_whole;
		this.args = data.args ? new Args(data.args) : null;
		this.arrows = data.arrows ? new Arrows(data.arrows) : null;
		const nArgs = this.lanes.reduce((sum, lane) => sum + lane.args.filter(one => one >= 0).length, 0);
		this.instants = data.instants ? readInstants(data.instants, nArgs) : [];
		this.perTrack = groupBy(this.instants, one => one.track);
	}

	private find(id: number): { lane: LaneSlices; i: number } | null {
		const lane = this.lanes.find(one => id >= one.first && id < one.first + one.start.length);
		return lane ? { lane, i: id - lane.first } : null;
	}

	private ref(lane: LaneSlices, i: number): SliceRef {
		const site = this.sites[lane.site[i]!]!,
			n = lane.count[i]!;
		return {
			id: lane.first + i,
			name: n > 1 ? `${site.name} and ${n - 1} more short ones` : site.name,
			class: site.class,
			start_ns: lane.start[i]!,
			dur_ns: lane.dur[i]!,
			lane: lane.lane,
			track: lane.track,
		};
	}

	private parentOf(lane: LaneSlices, start: number): { lane: LaneSlices; i: number } | null {
		const above = this.lanes.find(
			one => one.track === lane.track && one.group === lane.group && one.depth === lane.depth - 1,
		);
		const i = above ? firstEnding(above, start) : 0;
		return above && i < above.start.length && above.start[i]! <= start ? { lane: above, i } : null;
	}

	private below(lane: LaneSlices): LaneSlices | undefined {
		return this.lanes.find(
			one => one.track === lane.track && one.group === lane.group && one.depth === lane.depth + 1,
		);
	}

	// What lies below it: how many, and how long they take; null where that is not known.
	private inside(lane: LaneSlices, i: number): { n: number; ns: number | null } {
		const below = this.below(lane),
			start = lane.start[i]!,
			end = start + lane.dur[i]!;
		let n = 0,
			ns: number | null = this.isWhole && lane.count[i] === 1 ? 0 : null;
		for (
			let k = below ? firstEnding(below, start) : 0;
			below && k < below.start.length && below.start[k]! < end;
			k++
		) {
			const isInside = below.start[k]! >= start && below.start[k]! + below.dur[k]! <= end;
			n += below.count[k]!;
			ns = ns === null || !isInside ? null : ns + below.busy[k]!;
		}
		return { n, ns };
	}

	private flows(id: number): Flow[] {
		return (this.arrows?.of(id) ?? []).map(({ arrow, isOut }) => {
			const other = this.find(isOut ? arrow.to : arrow.from);
			return {
				dir: isOut ? 'out' : 'in',
				kind: arrow.site < 0 ? 'launch' : 'flow',
				name: arrow.site < 0 ? 'launch' : (this.sites[arrow.site]?.name ?? ''),
				slice: other && this.ref(other.lane, other.i),
			};
		});
	}

	instant(id: number): Response {
		const mark = this.instants[id],
			site = mark && this.sites[mark.site];
		if (!mark || !site) return refuse(404, `There is no instant ${id} in this file.`);
		const beside = (step: number): number | null =>
			this.instants[id + step]?.track === mark.track ? id + step : null;
		const instant: Instant = {
			id,
			name: mark.n > 1 ? `${site.name} and ${mark.n - 1} more` : site.name,
			category: site.category,
			class: site.class,
			time_ns: mark.time,
			track: mark.track,
			rank: null,
			args: this.args?.get(mark.args) ?? null,
			previous: beside(-1),
			next: beside(1),
		};
		return json(instant);
	}

	slice(id: number): Response {
		const found = this.find(id);
		if (!found) return refuse(404, `There is no slice ${id} in this file.`);
		const { lane, i } = found,
			site = this.sites[lane.site[i]!]!,
			parents: SliceRef[] = [];
		for (let p = this.parentOf(lane, lane.start[i]!); p; p = this.parentOf(p.lane, p.lane.start[p.i]!))
			parents.push(this.ref(p.lane, p.i));
		const { n, ns } = this.inside(lane, i);
		const slice: Slice = {
			...this.ref(lane, i),
			category: site.category,
			self_ns: ns === null ? null : lane.dur[i]! - ns,
			rank: null,
			depth: lane.depth,
			args: lane.count[i]! > 1 ? {} : (this.args?.get(lane.args[i]!) ?? null),
			parents,
			n_children: n,
			flows: this.flows(id),
		};
		return json(slice);
	}

	next(id: number, dir: string, by: string): Response {
		const found = this.find(id);
		if (!found) return refuse(404, `There is no slice ${id} in this file.`);
		const { lane, i } = found;
		if (dir === 'parent') {
			const parent = this.parentOf(lane, lane.start[i]!);
			return json({ slice: parent && this.ref(parent.lane, parent.i) });
		}
		if (dir === 'child') {
			const below = this.below(lane);
			const k = below ? firstEnding(below, lane.start[i]!) : 0;
			return json({
				slice:
					below &&
					k < below.start.length &&
					below.start[k]! < lane.start[i]! + lane.dur[i]!
						? this.ref(below, k)
						: null,
			});
		}
		const step = dir === 'previous' || dir === 'left' ? -1 : 1;
		if (by === 'name')
			return json({ slice: this.nearest(new Set([lane.site[i]!]), lane.start[i]!, step, id) });
		return json({ slice: i + step >= 0 && i + step < lane.start.length ? this.ref(lane, i + step) : null });
	}

	// The next of these names after ns, or the one before it.
	private nearest(sites: Set<number>, ns: number, step: number, except: number): SliceRef | null {
		let best: SliceRef | null = null;
		for (const lane of this.lanes)
			for (
				let i =
					step > 0
						? Math.max(0, firstEnding(lane, ns) - 1)
						: Math.min(lane.start.length - 1, firstEnding(lane, ns));
				i >= 0 && i < lane.start.length;
				i += step
			) {
				const start = lane.start[i]!,
					id = lane.first + i;
				if (
					!sites.has(lane.site[i]!) ||
					id === except ||
					(step > 0
						? start < ns || (start === ns && id < except)
						: start > ns || (start === ns && id > except))
				)
					continue;
				if (!best || (step > 0 ? start < best.start_ns : start > best.start_ns))
					best = this.ref(lane, i);
				break;
			}
		return best;
	}

	search(q: string, from: number, dir: string, after: number, afterInstant: number): Response {
		const wanted = q.toLowerCase(),
			sums = new Map<number, { site: number; name: string; n_slices: number; total_ns: number }>();
		this.sites.forEach((site, i) => {
			if (site.name.toLowerCase().includes(wanted))
				sums.set(i, { site: i, name: site.name, n_slices: 0, total_ns: 0 });
		});
		let n = 0;
		for (const lane of this.lanes)
			for (let i = 0; i < lane.start.length; i++) {
				const sum = lane.count[i] === 1 ? sums.get(lane.site[i]!) : undefined;
				if (sum) {
					sum.n_slices++;
					sum.total_ns += lane.dur[i]!;
					n++;
				}
			}
		const marked = new Set(this.instants.map(one => one.site));
		const names = [...sums.values()]
			.filter(sum => sum.n_slices || marked.has(sum.site))
			.sort((a, b) => b.total_ns - a.total_ns);
		return json({
			names,
			n_slices: n,
			slice: this.nearest(new Set(sums.keys()), from, dir === 'previous' ? -1 : 1, after),
			...this.searchInstants(new Set(sums.keys()), from, dir === 'previous', afterInstant),
		});
	}

	private searchInstants(sites: Set<number>, from: number, isBack: boolean, after: number) {
		const order = (a: InstantMark, b: InstantMark): number => a.time - b.time || a.id - b.id;
		const all = this.instants.filter(one => sites.has(one.site)).sort(order),
			last = this.instants[after];
		const isPast = (one: InstantMark): boolean =>
			last ? order(one, last) * (isBack ? -1 : 1) > 0 : isBack ? one.time < from : one.time >= from;
		const found = isBack ? all.findLast(isPast) : all.find(isPast);
		return {
			n_instants: all.reduce((sum, one) => sum + one.n, 0),
			instant: found ? { id: found.id, time_ns: found.time } : null,
		};
	}

	aggregate(from: number, to: number): Response {
		const names = new Map<
			number,
			{
				site: number;
				name: string;
				class: string;
				n_slices: number;
				total_ns: number;
				self_ns: null;
				min_ns: number;
				max_ns: number;
			}
		>();
		const tracks = new Map<number, { track: number; n_slices: number; covered_ns: number | null }>();
		const nStacks = new Map<number, number>(); // of a track: what overlaps is not summed up
		for (const lane of this.lanes)
			if (lane.depth === 0) nStacks.set(lane.track, (nStacks.get(lane.track) ?? 0) + 1);
		for (const lane of this.lanes)
			for (let i = firstEnding(lane, from); i < lane.start.length && lane.start[i]! < to; i++) {
				const site = this.sites[lane.site[i]!]!,
					n = lane.count[i]!;
				const inside =
					(Math.min(to, lane.start[i]! + lane.dur[i]!) - Math.max(from, lane.start[i]!)) *
					(lane.dur[i] ? lane.busy[i]! / lane.dur[i]! : 1);
				if (n === 1) {
					let sum = names.get(lane.site[i]!);
					if (!sum)
						names.set(
							lane.site[i]!,
							(sum = {
								site: lane.site[i]!,
								name: site.name,
								class: site.class,
								n_slices: 0,
								total_ns: 0,
								self_ns: null,
								min_ns: Infinity,
								max_ns: 0,
							}),
						);
					sum.n_slices++;
					sum.total_ns += inside;
					sum.min_ns = Math.min(sum.min_ns, lane.dur[i]!);
					sum.max_ns = Math.max(sum.max_ns, lane.dur[i]!);
				}
				const track = tracks.get(lane.track) ?? {
					track: lane.track,
					n_slices: 0,
					covered_ns: 0,
				};
				track.n_slices += n;
				if (lane.depth === 0 && track.covered_ns !== null)
					track.covered_ns =
						nStacks.get(lane.track)! > 1 ? null : track.covered_ns + inside;
				tracks.set(lane.track, track);
			}
		return json({
			names: [...names.values()].sort((a, b) => b.total_ns - a.total_ns),
			tracks: [...tracks.values()],
		});
	}

	range(params: URLSearchParams): Response {
		const wanted = numbersOf(params.get('lanes'));
		const lanes = this.lanes.filter(lane => wanted.has(lane.lane)),
			minDur = Number(params.get('min_dur') ?? 0),
			noPython = params.get('hide') === 'python';
		return new Response(
			range(
				lanes,
				Number(params.get('from')),
				Number(params.get('to')),
				Number(params.get('px')),
				(lane, i) =>
					lane.dur[i]! < minDur ||
					(noPython && this.sites[lane.site[i]!]?.class === 'python'),
				[...numbersOf(params.get('instants'))].map(track => ({
					track,
					marks: this.perTrack.get(track) ?? [],
				})),
			),
		);
	}
}

function flame(data: FileData, params: URLSearchParams): Response {
	const by = params.get('by') || 'time',
		mode = params.get('mode') || 'merged';
	if (by !== data.flame!.by)
		return json({
			available: false,
			reason: `This file has ${data.flame!.by} only.`,
			command: `sonde flame --by ${by} FILE`,
		});
	if (mode === 'callers' || mode === 'callees')
		return json(around(data.flame!.merged, params.get('name') ?? '', mode === 'callers'));
	if (params.get('steps') || params.get('thread'))
		return json({
			available: false,
			reason: 'This file has one selection of steps and threads.',
			command: 'sonde flame --steps A..B FILE',
		});
	if (mode === 'ordered')
		return json(
			data.flame!.ordered ?? {
				available: false,
				reason: 'Time order needs the measure time.',
				command: 'sonde flame --by time FILE',
			},
		);
	return json(data.flame!.merged);
}

export function localSource(data: FileData): (path: string, init: RequestInit) => Promise<Response> {
	const timeline = data.slices ? new Timeline(data) : null;
	return async (path, init) => {
		const [where, query] = path.split('?') as [string, string | undefined],
			params = new URLSearchParams(query ?? '');
		if (init.method && init.method !== 'GET')
			return refuse(403, 'This file cannot store notes; open the trace with sonde serve.');
		const number = (key: string): number => Number(params.get(key) ?? 0);
		const known = data.answers[path] ?? data.answers[where];
		if (known !== undefined) return json(known);
		if (data.flame && where === `${S}/flame`) return flame(data, params);
		const one = /\/slices\/(\d+)(\/next)?$/.exec(where);
		if (timeline && one)
			return one[2]
				? timeline.next(Number(one[1]), params.get('dir') ?? '', params.get('by') ?? '')
				: timeline.slice(Number(one[1]));
		const mark = /\/instants\/(\d+)$/.exec(where);
		if (timeline && mark) return timeline.instant(Number(mark[1]));
		if (data.counters && where === `${S}/counters`)
			return json(
				counters(
					data.counters,
					numbersOf(params.get('ids')),
					number('from'),
					number('to'),
					number('px'),
				),
			);
		if (data.overlap && where === `${S}/overlap`)
			return json(overlap(data.overlap, number('from'), number('to'), number('px')));
		if (timeline && where === `${S}/range`) return timeline.range(params);
		if (timeline && where === `${S}/search`)
			return timeline.search(
				params.get('q') ?? '',
				number('from'),
				params.get('dir') ?? '',
				Number(params.get('after') ?? -1),
				Number(params.get('after_instant') ?? -1),
			);
		if (timeline && where === `${S}/aggregate`) return timeline.aggregate(number('from'), number('to'));
		return refuse(404, 'This file does not have this data; open the trace with sonde serve.');
	};
}
