// An analysis's answer as the page shows it: tables of typed columns, findings, notes. The server's `view` member says
// how the plain members are shown; without it the names of the keys do ("total_ns", "peak_bytes", "idle_percent").
import * as format from './format';

export type CellType = 'string' | 'count' | 'integer' | 'ns' | 'bytes' | 'percent' | 'number' | 'bool';
export type Cell = string | number | boolean | null;

export interface Column {
	key: string;
	header: string;
	type: CellType;
	bar?: boolean;
	hidden?: boolean;
	priority?: number; // higher ones go first where there is no room
}
export interface Chart {
	kind: 'line' | 'steps' | 'bars';
	x: string;
	y: string;
	series?: string | null;
}
export interface Table {
	key: string;
	title: string | null;
	columns: Column[];
	rows: Cell[][];
	depths: number[] | null;
	chart: Chart | null;
	parts?: string[]; // columns that add up to a row's bar
	cut?: string | null; // what a file leaves out, as a sentence
}
export interface Finding {
	rule: string;
	severity: 'low' | 'medium' | 'high' | 'critical';
	seconds_lost: number | null;
	share: number | null;
	confidence: number | null;
	title: string;
	evidence: string[];
	suggestion: string | null;
	affected: string[];
	slices: number[];
	from_ns: number | null;
	to_ns: number | null;
	first_step: number | null;
	last_step: number | null;
	rank: number | null;
}
export interface Note {
	label: string;
	text: string;
}
export interface Result {
	headline: string | null; // or what the analysis is about
	values: [string, Cell][];
	tables: Table[];
	findings: Finding[] | null;
	notes: Note[];
}
const MAX_SLICES = 5; // of evidence

type Json = Record<string, unknown>;
interface ViewTable {
	key: string;
	title?: string | null;
	columns?: Column[];
	chart?: Chart | null;
	parts?: string[];
}
interface View {
	headline?: string | null;
	summary?: string | null;
	tables?: ViewTable[];
}

const SUFFIXES: [string, CellType][] = [
	['_ns', 'ns'],
	['_bytes', 'bytes'],
	['bytes', 'bytes'],
	['percent', 'percent'],
	['share', 'percent'],
];

export function typeOf(key: string, values: unknown[]): CellType {
	const sample = values.find(value => value !== null && value !== undefined);
	if (typeof sample === 'string') return 'string';
	if (typeof sample === 'boolean') return 'bool';
	const found = SUFFIXES.find(([suffix]) => key.endsWith(suffix));
	if (found) return found[1];
	if (/^(rank|step|pid|tid|stream|device|id|slice|line)$|_id$|_step$/.test(key)) return 'integer';
	return values.every(value => value === null || value === undefined || Number.isInteger(value))
		? 'count'
		: 'number';
}

export const headerOf = (key: string): string =>
	(key.replace(/_(ns|bytes|percent)$/, '').replace(/^n_/, '') || key).replaceAll('_', ' ');

export const titleOf = (key: string): string => key.charAt(0).toUpperCase() + key.slice(1).replaceAll('_', ' ');

const isObject = (value: unknown): value is Json =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

function cellOf(value: unknown): Cell {
	if (value === undefined || value === null) return null;
	return typeof value === 'object' ? JSON.stringify(value) : (value as Cell);
}

// Rows that are objects, or arrays with the columns beside them.
export function tableOf(key: string, rows: unknown[], view?: ViewTable): Table {
	const objects = rows.filter(isObject);
	const keys =
		view?.columns?.map(column => column.key) ??
		[...new Set(objects.slice(0, 100).flatMap(row => Object.keys(row)))].filter(name => name !== 'depth');
	const columns =
		view?.columns ??
		keys.map(name => {
			const type = typeOf(
				name,
				objects.slice(0, 100).map(row => row[name]),
			);
			return { key: name, header: headerOf(name), type, bar: type === 'percent' };
		});
	const isTree = objects.some(row => Number(row['depth']) > 0);
	return {
		key,
		columns,
		title: view?.title ?? titleOf(key),
		chart: view?.chart ?? null,
		parts: view?.parts ?? [],
		rows: objects.map(row => keys.map(name => cellOf(row[name]))),
		depths: isTree ? objects.map(row => Number(row['depth'] ?? 0)) : null,
	};
}

// Where to look: "rank 2, steps 11-200, 4.81 s to 9.20 s, slice 17".
export function placeOf(finding: Finding): string {
	const { rank, first_step: first, last_step: last, from_ns: from, to_ns: to, slices } = finding;
	const shown = slices.slice(0, MAX_SLICES).join(', '),
		nMore = slices.length - MAX_SLICES;
	// A short time long after the start is told by its length; as src/present/text_findings.c has it.
	const time = (begin: number, end: number): string =>
		format.ns(begin) === format.ns(end)
			? `${format.ns(begin)} for ${format.ns(end - begin)}`
			: `${format.ns(begin)} to ${format.ns(end)}`;
	return [
		rank !== null && `rank ${rank}`,
		first !== null && (first === last ? `step ${first}` : `steps ${first}-${last}`),
		from !== null && to !== null && time(from, to),
		slices.length > 0 &&
			`${slices.length > 1 ? 'slices' : 'slice'} ${shown}${nMore > 0 ? ` and ${nMore} more` : ''}`,
	]
		.filter(Boolean)
		.join(', ');
}

export function resultOf(json: Json): Result {
	const view = (isObject(json['view']) ? json['view'] : {}) as View;
	const result: Result = {
		headline: view.headline ?? view.summary ?? null,
		values: [],
		tables: [],
		findings: null,
		notes: [],
	};
	for (const [key, value] of Object.entries(json)) {
		if (key === 'schema' || key === 'view' || key === 'available') continue;
		if (key === 'findings' && Array.isArray(value)) result.findings = value as Finding[];
		else if (key === 'notes' && Array.isArray(value)) result.notes = value as Note[];
		else if (Array.isArray(value)) {
			if (value.length === 0 || value.some(isObject))
				result.tables.push(
					tableOf(
						key,
						value,
						view.tables?.find(table => table.key === key),
					),
				);
		} else if (!isObject(value)) result.values.push([key, cellOf(value)]);
	}
	return result;
}
