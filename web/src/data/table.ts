// What a table does apart from being drawn: order, filter, CSV, the text of its cells.
import * as format from './format';
import type { Cell, Column, Table } from './result';

export type Sort = { column: number; down: boolean } | null;

export const isNumeric = (column: Column): boolean => column.type !== 'string' && column.type !== 'bool';

// Numbers largest first, names from A on; again: the other way; a third time: as it was.
export function nextSort(now: Sort, column: number, numeric: boolean): Sort {
	if (!now || now.column !== column) return { column, down: numeric };
	return now.down === numeric ? { column, down: !numeric } : null;
}

function compare(a: Cell, b: Cell): number {
	return typeof a === 'string' || typeof b === 'string'
		? String(a) < String(b)
			? -1
			: 1
		: Number(a) - Number(b);
}

// Numbers of rows in the order to show. What is unknown comes last either way.
export function order(table: Table, sort: Sort, filter: string): number[] {
	const wanted = filter.trim().toLowerCase();
	let rows = table.rows.map((_, i) => i);
	if (wanted)
		rows = rows.filter(i =>
			table.rows[i]!.some(
				(cell, c) =>
					cellText(table.columns[c]!, cell).toLowerCase().includes(wanted) ||
					(typeof cell === 'string' && cell.toLowerCase().includes(wanted)),
			),
		);
	if (!sort) return rows;
	const sign = sort.down ? -1 : 1;
	return rows.sort((i, j) => {
		const a = table.rows[i]![sort.column] ?? null,
			b = table.rows[j]![sort.column] ?? null;
		if (a === null || b === null) return a === b ? i - j : a === null ? 1 : -1;
		return a === b ? i - j : sign * compare(a, b);
	});
}

export function cellText(column: Column, cell: Cell, unit?: format.Unit): string {
	if (cell === null) return '-';
	if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
	if (typeof cell === 'string') return cell;
	switch (column.type) {
		case 'ns':
			return unit ? format.inUnit(cell, unit) : format.ns(cell);
		case 'bytes':
			return unit ? format.inUnit(cell, unit) : format.bytes(cell);
		case 'percent':
			return format.percent(cell);
		case 'count':
			return Number.isInteger(cell) ? format.count(cell) : format.number(cell);
		case 'integer':
			return String(cell);
		default:
			return format.number(cell);
	}
}

const MOST = 100000; // 99,999 ms can still be read

// One unit for a column, that of its largest value, or a smaller one when a few large values would make the others
// unreadable; as src/present/cells.c has it.
export function unitOf(table: Table, column: number): format.Unit | undefined {
	const type = table.columns[column]!.type;
	if (type !== 'ns' && type !== 'bytes') return undefined;
	const unitFor = type === 'ns' ? format.nsUnit : format.bytesUnit;
	// Times of several runs and their difference are read side by side.
	const isOfRuns = (key: string): boolean => /^([a-z]|diff)_ns$/.test(key);
	const like = isOfRuns(table.columns[column]!.key)
		? table.columns.flatMap((one, i) => (isOfRuns(one.key) ? [i] : []))
		: [column];
	const sizes = like
			.flatMap(i => table.rows.map(row => Math.abs(Number(row[i] ?? 0))))
			.filter(size => size > 0),
		most = sizes.reduce((a, b) => Math.max(a, b), 0);
	let unit = unitFor(most);
	while (2 * sizes.filter(size => size < 0.1 * unit.scale).length > sizes.length) {
		const smaller = unitFor(unit.scale / 2);
		if (smaller.scale === unit.scale || most >= MOST * smaller.scale) break;
		unit = smaller;
	}
	return unit;
}

// The column whose numbers get a bar behind them: the one that says so, else percent, else time, else bytes.
export function barColumn(table: Table): number {
	const { columns } = table;
	const wish = [
		columns.findIndex(column => column.bar),
		columns.findIndex(column => column.type === 'percent' && /percent|share|^%$/.test(column.key)),
		columns.findIndex(column => column.type === 'ns' && /total|sum|dur|self|time/.test(column.key)),
		columns.findIndex(column => column.type === 'bytes'),
	];
	return wish.find(i => i >= 0) ?? -1;
}

// A cell as CSV; what a spreadsheet would run gets an apostrophe, as in --csv.
function csvCell(cell: Cell): string {
	if (cell === null) return '';
	if (typeof cell !== 'string') return String(cell);
	const text = /^[=+\-@\t\r]/.test(cell) ? "'" + cell : cell;
	return /[",\r\n]/.test(text) || text.startsWith("'") ? '"' + text.replaceAll('"', '""') + '"' : text;
}

export function csv(table: Table, rows: number[]): string {
	const lines = [table.columns.map(column => csvCell(column.key)).join(',')];
	for (const i of rows) lines.push(table.rows[i]!.map(csvCell).join(','));
	return lines.join('\r\n') + '\r\n';
}

const PAPER_ROOM = 13; // columns of numbers that fit on a sheet; a name takes three, other text and a bar two

// Paper has no scroll bar: the highest priority of a column that is printed.
export function paperLimit(table: Table): number {
	const bar = barColumn(table),
		shown = table.columns.filter(column => !column.hidden);
	const width = (limit: number): number =>
		shown.reduce(
			(sum, column, i) =>
				(column.priority ?? 0) > limit
					? sum
					: sum +
						(isNumeric(column) && column !== table.columns[bar] ? 1 : 2) +
						(i === 0 ? 1 : 0),
			0,
		);
	let limit = Math.max(0, ...shown.map(column => column.priority ?? 0));
	while (limit > 0 && width(limit) > PAPER_ROOM) limit--;
	return limit;
}
