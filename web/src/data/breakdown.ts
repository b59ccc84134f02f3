// Where the time goes: parts that add up to a span.
import { groupBy } from './group';
import type { Cell, Result, Table } from './result';

export interface Part {
	name: string;
	hue: number;
	ns: number;
} // hue 8: nothing, hardly a color
export interface Breakdown {
	rank: number | null;
	span: number;
	parts: Part[];
}

export function column(table: Table, key: string): number {
	return table.columns.findIndex(one => one.key === key);
}
export const find = (result: Result | null, key: string): Table | null =>
	result?.tables.find(table => table.key === key) ?? null;
const numberOf = (cell: Cell | undefined): number => (typeof cell === 'number' ? cell : 0);

const ROLES: [string, number, string[]][] = [
	['kernels', 2, ['kernel']],
	['communication not hidden', 1, ['communication']],
	['copies', 4, ['memcpy', 'memset']],
	['data loading', 3, ['loader']],
	['launching', 5, ['runtime']],
	['host operators', 0, ['host ops']],
	['nothing', 8, ['other']],
];

// Where a step goes, from the analysis "roles": each moment belongs to one of them.
export function rolesOf(table: Table): Breakdown[] {
	const rank = column(table, 'rank'),
		role = column(table, 'role'),
		ns = column(table, 'total_ns');
	return [...groupBy(table.rows, row => row[rank] ?? null)]
		.map(([of, rows]) => {
			const parts = ROLES.map(([name, hue, roles]) => ({
				name,
				hue,
				ns: rows
					.filter(row => roles.includes(String(row[role])))
					.reduce((sum, row) => sum + numberOf(row[ns]), 0),
			}));
			return {
				rank: typeof of === 'number' ? of : null,
				span: parts.reduce((sum, part) => sum + part.ns, 0),
				parts,
			};
		})
		.filter(one => one.span > 0);
}

// The hues of the parts that tables have.
const HUES: Record<string, number> = {
	compute_ns: 2,
	exposed_communication_ns: 1,
	exposed_memory_ns: 4,
	idle_ns: 8,
	compiling_ns: 1,
	compiled_ns: 2,
	eager_ns: 0,
	other_ns: 8,
};

export interface NamedBreakdown extends Breakdown {
	name: string;
}

// Rows of which some columns add up: what ranks or steps are made of.
export function partsOf(table: Table): NamedBreakdown[] {
	const keys = (table.parts ?? []).filter(key => column(table, key) >= 0),
		rank = column(table, 'rank'),
		step = column(table, 'step'),
		several = new Set(table.rows.map(row => row[rank])).size > 1;
	return table.rows
		.map(row => {
			const parts = keys.map((key, i) => ({
				name: table.columns[column(table, key)]!.header,
				hue: HUES[key] ?? i,
				ns: Math.max(0, numberOf(row[column(table, key)])),
			}));
			const ofRank = `rank ${row[rank] ?? '-'}`;
			return {
				name: step < 0 ? ofRank : `step ${row[step] ?? '-'}` + (several ? `, ${ofRank}` : ''),
				rank: typeof row[rank] === 'number' ? (row[rank] as number) : null,
				span: parts.reduce((sum, part) => sum + part.ns, 0),
				parts,
			};
		})
		.filter(one => one.span > 0);
}

// All ranks together.
export function total(list: Breakdown[]): Breakdown | null {
	if (!list.length) return null;
	const parts = list[0]!.parts.map((part, i) => ({
		...part,
		ns: list.reduce((sum, one) => sum + one.parts[i]!.ns, 0),
	}));
	return { rank: null, span: list.reduce((sum, one) => sum + one.span, 0), parts };
}

export interface StepTime {
	step: number;
	ns: number;
	nRanks: number;
}

// One time for each step: the longest of its ranks, because the others wait for it.
export function stepTimes(table: Table): StepTime[] {
	const step = column(table, 'step'),
		dur = column(table, 'dur_ns'),
		times = new Map<number, StepTime>();
	for (const row of table.rows) {
		const number = row[step],
			ns = row[dur];
		if (typeof number !== 'number' || typeof ns !== 'number') continue;
		const known = times.get(number);
		times.set(number, { step: number, ns: Math.max(ns, known?.ns ?? 0), nRanks: (known?.nRanks ?? 0) + 1 });
	}
	return [...times.values()].sort((a, b) => a.step - b.step);
}

export function median(values: number[]): number | null {
	if (!values.length) return null;
	const sorted = [...values].sort((a, b) => a - b),
		mid = sorted.length >> 1;
	return sorted.length % 2 ? sorted[mid]! : (sorted[mid - 1]! + sorted[mid]!) / 2;
}
