// A table: sortable, filtered, with a sticky header and a bar behind its main number; only the rows that can be seen
// are in the page when there are many.
import { useMemo, useRef, useState } from 'preact/hooks';
import * as format from '../data/format';
import type { Column, Table } from '../data/result';
import { barColumn, cellText, csv, isNumeric, nextSort, order, paperLimit, unitOf, type Sort } from '../data/table';
import { copy } from '../state/app';

const ROW = 25; // px, as in parts.css
const LONG = 64; // characters of a cell; the rest is in its title
const VIRTUAL = 500;
const FILTER_FROM = 8;
const PAPER_ROWS = 60; // as in parts.css

export interface TableProps {
	table: Table;
	onRow?: (row: number) => void; // Enter or click
	rowTitle?: string;
	maxHeight?: number;
	sort?: Sort;
	isBare?: boolean; // without title and tools
	isTitled?: boolean; // by what stands above it
}

interface BodyProps extends TableProps {
	rows: number[];
	first: number;
	n: number;
	bar: number;
	units: (format.Unit | undefined)[];
	most: number;
	limit: number; // of columns on paper
}

const classOf = (column: Column, limit: number): string =>
	(isNumeric(column) ? 'n' : '') + ((column.priority ?? 0) > limit ? ' screen' : '');

function Body({ table, rows, first, n, bar, units, most, limit, onRow, rowTitle }: BodyProps) {
	const visible = rows.slice(first, first + n);
	const keys = (event: KeyboardEvent, row: number): void => {
		const step =
			event.key === 'ArrowDown'
				? 'nextElementSibling'
				: event.key === 'ArrowUp'
					? 'previousElementSibling'
					: null;
		if (event.key === 'Enter' && onRow && event.target === event.currentTarget) onRow(row);
		else if (step) ((event.currentTarget as HTMLElement)[step] as HTMLElement | null)?.focus();
		else return;
		event.preventDefault();
		event.stopPropagation();
	};
	return (
		<tbody>
			{first > 0 && (
				<tr class="space" aria-hidden="true">
					<td colSpan={table.columns.length} style={{ height: `${first * ROW}px` }} />
				</tr>
			)}
			{visible.map((row, i) => (
				<tr
					key={row}
					tabIndex={first + i === 0 ? 0 : -1}
					aria-rowindex={first + i + 2}
					title={onRow ? rowTitle : undefined}
					class={onRow ? 'active' : ''}
					onKeyDown={event => keys(event, row)}
					onClick={onRow && (() => onRow(row))}
				>
					{table.columns.map((column, c) => {
						if (column.hidden) return null;
						const cell = table.rows[row]![c] ?? null;
						const text = cellText(column, cell, units[c]);
						const style: Record<string, string> = {};
						if (c === bar && typeof cell === 'number' && most > 0)
							style['--part'] =
								`${Math.max(0, Math.min(100, (100 * cell) / most))}%`;
						if (c === 0 && table.depths?.[row])
							style['paddingLeft'] = `${8 + 16 * table.depths[row]!}px`;
						return (
							<td
								key={column.key}
								class={
									classOf(column, limit) +
									(c === bar ? ' bar' : '')
								}
								style={style}
								title={
									text.length > LONG
										? format.middle(text, 2000)
										: undefined
								}
							>
								{format.middle(text, LONG)}
							</td>
						);
					})}
				</tr>
			))}
			{first + n < rows.length && (
				<tr class="space" aria-hidden="true">
					<td
						colSpan={table.columns.length}
						style={{ height: `${(rows.length - first - n) * ROW}px` }}
					/>
				</tr>
			)}
		</tbody>
	);
}

function largest(table: Table, column: number): number {
	let most = 0;
	for (const row of table.rows) if (typeof row[column] === 'number') most = Math.max(most, row[column] as number);
	return most;
}

export function TableView(props: TableProps) {
	const { table, maxHeight = 560 } = props;
	const [sort, setSort] = useState<Sort>(props.sort ?? null);
	const [filter, setFilter] = useState('');
	const [top, setTop] = useState(0);
	const scroll = useRef<HTMLDivElement>(null);
	const rows = useMemo(() => order(table, sort, filter), [table, sort, filter]);
	const units = useMemo(() => table.columns.map((_, i) => unitOf(table, i)), [table]);
	const bar = useMemo(() => barColumn(table), [table]);
	const most = useMemo(() => largest(table, bar), [table, bar]);
	const limit = useMemo(() => paperLimit(table), [table]);
	const isVirtual = rows.length > VIRTUAL;
	const n = isVirtual ? Math.ceil(maxHeight / ROW) + 20 : rows.length;
	const first = isVirtual ? Math.max(0, Math.min(rows.length - n, Math.floor(top / ROW) - 10)) : 0;

	return (
		<section class="table-view" aria-label={table.title ?? table.key}>
			{!props.isBare && (
				<div class="table-tools">
					{table.title && !props.isTitled && <h2>{table.title}</h2>}
					<span class="quiet">
						{filter
							? `${format.count(rows.length)} of ${format.plural(table.rows.length, 'row')}`
							: format.plural(table.rows.length, 'row')}
					</span>
					<span class="spring" />
					{table.rows.length > FILTER_FROM && (
						<input
							type="search"
							placeholder="filter"
							aria-label={`Filter ${table.title ?? table.key}`}
							value={filter}
							onInput={event => setFilter(event.currentTarget.value)}
						/>
					)}
					{table.rows.length > 0 && (
						<button
							onClick={() =>
								copy(
									csv(table, rows),
									`${format.plural(rows.length, 'row')} as CSV`,
								)
							}
						>
							copy as CSV
						</button>
					)}
				</div>
			)}
			<div
				class="scroll"
				ref={scroll}
				style={{ maxHeight: `${maxHeight}px` }}
				onScroll={event => isVirtual && setTop(event.currentTarget.scrollTop)}
			>
				<table aria-rowcount={rows.length + 1}>
					<thead>
						<tr>
							{table.columns.map(
								(column, i) =>
									!column.hidden && (
										<th
											key={column.key}
											scope="col"
											class={classOf(column, limit)}
											aria-sort={
												sort?.column === i
													? sort.down
														? 'descending'
														: 'ascending'
													: undefined
											}
										>
											<button
												onClick={() =>
													setSort(
														nextSort(
															sort,
															i,
															isNumeric(
																column,
															),
														),
													)
												}
											>
												{column.header}
												{column.type ===
													'percent' &&
												!column.header.includes(
													'%',
												) &&
												!/percent/.test(
													column.header,
												)
													? ' %'
													: ''}
											</button>
										</th>
									),
							)}
						</tr>
					</thead>
					<Body
						{...props}
						rows={rows}
						first={first}
						n={n}
						bar={bar}
						units={units}
						most={most}
						limit={limit}
					/>
				</table>
				{rows.length === 0 && (
					<p class="nothing quiet">{filter ? 'No matching row.' : 'No rows.'}</p>
				)}
			</div>
			{rows.length > PAPER_ROWS && (
				<p class="paper quiet">
					{format.count(rows.length - PAPER_ROWS)} more rows are on the screen.
				</p>
			)}
		</section>
	);
}
