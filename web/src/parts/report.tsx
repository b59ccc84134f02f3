// Any analysis: its sentence, findings, charts, tables and remarks. A tab is one row of views/list.tsx over this.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { partsOf } from '../data/breakdown';
import { chartOf } from '../data/chart';
import { headerOf, resultOf, titleOf, typeOf, type Cell, type Result, type Table } from '../data/result';
import { cellText } from '../data/table';
import { filters, hasTimeline, sessionPath, show } from '../state/app';
import { query } from '../state/api';
import { useFetch } from '../state/fetch';
import { ChartView } from './chart';
import { Empty, Failed, Waiting } from './empty';
import { Findings } from './findings';
import { Stacks } from './stack';
import { TableView } from './table';

export interface Answer {
	available?: boolean;
	reason?: string;
	command?: string;
	[key: string]: unknown;
}

export const valueText = (key: string, value: Cell): string => {
	const type = typeOf(key, [value]);
	return cellText({ key, header: key, type }, value) + (type === 'percent' ? ' %' : '');
};

export const sentenceCase = (text: string): string =>
	/^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;

// A row that names a slice, a step or a time leads there.
export function rowAction(table: Table): ((row: number) => void) | undefined {
	const column = (...keys: string[]): number => table.columns.findIndex(one => keys.includes(one.key));
	const slice = column('slice', 'slice_id'),
		step = column('step'),
		name = column('name', 'kernel', 'operator', 'op', 'layer');
	const value = (row: number, at: number): string => String(table.rows[row]![at] ?? '');

	if (!hasTimeline) return undefined;
	if (slice >= 0) return row => value(row, slice) && show('timeline', { sel: value(row, slice), fit: '1' });
	if (step >= 0) return row => value(row, step) && show('timeline', { step: value(row, step) });
	if (name >= 0) return row => value(row, name) && show('timeline', { q: value(row, name) });
	return undefined;
}

// Below what is drawn of it, if anything is.
export function ResultTable({ table }: { table: Table }) {
	const data = useMemo(() => chartOf(table), [table]),
		parts = useMemo(() => partsOf(table), [table]),
		isDrawn = data !== null || parts.length > 0;
	const rows = (
		<>
			<TableView
				table={table}
				isTitled={isDrawn}
				onRow={rowAction(table)}
				rowTitle="Show it in the timeline"
			/>
			{table.cut && <p class="quiet">{table.cut}</p>}
		</>
	);

	return (
		<section class="block" id={`table-${table.key}`}>
			{isDrawn && <h2>{table.title ?? titleOf(table.key)}</h2>}
			<Stacks list={parts} />
			{data && (
				<ChartView
					data={data}
					label={`${table.title ?? table.key}: ${data.yName} over ${data.xName}. The table below has the numbers.`}
				/>
			)}
			{data ? (
				<details>
					<summary>table</summary>
					{rows}
				</details>
			) : (
				rows
			)}
		</section>
	);
}

export function Notes({ result }: { result: Result }) {
	return (
		<>
			{result.notes.length > 0 && (
				<dl class="notes">
					{result.notes.map((note, i) => [
						<dt key={i}>{note.label}</dt>,
						<dd>{note.text}</dd>,
					])}
				</dl>
			)}
		</>
	);
}

export function Values({ result }: { result: Result }) {
	// What went wrong how often is told where it did.
	const isTold = (key: string, value: Cell): boolean =>
		value !== 0 ||
		!(key === 'n_warmup_steps' || (/^(n|skipped|truncated)_/.test(key) && result.values.length > 12));
	// The number of the best run is for programs; the sentence above names it.
	const shown = result.values.filter(
		([key, value]) => value !== null && value !== '' && key !== 'best' && isTold(key, value),
	);

	return shown.length ? (
		<dl class="values">
			{shown.map(([key, value]) => (
				<div key={key}>
					<dt>{headerOf(key)}</dt>
					<dd>{valueText(key, value)}</dd>
				</div>
			))}
		</dl>
	) : null;
}

export function ResultView({
	result,
	title,
	children,
	picture,
}: {
	result: Result;
	title: string;
	children?: ComponentChildren;
	picture?: ComponentChildren; // below the first table
}) {
	return (
		<>
			<h1>{sentenceCase(result.headline ?? title)}</h1>
			<Values result={result} />
			{children}
			{result.findings && result.findings.length > 0 && <Findings findings={result.findings} />}
			{result.tables
				.filter(table => table.rows.length > 0)
				.map((table, i) => [<ResultTable key={table.key} table={table} />, i === 0 && picture])}
			<Notes result={result} />
		</>
	);
}

// The answer at a path below the session, with what the bar filters by.
export function useReport(path: string, more: Record<string, string> = {}) {
	const where = sessionPath.value;
	const fetched = useFetch<Answer>(where && where + path + query({ ...filters.value, ...more }));
	const result = useMemo(
		() => (fetched.data && fetched.data.available !== false ? resultOf(fetched.data) : null),
		[fetched.data],
	);

	return { ...fetched, result };
}

export function reportView(title: string, path: string, about: string) {
	return function Report() {
		const { data, error, result } = useReport(path);

		if (error) return <Failed title={title} text={error} />;
		if (data?.available === false)
			return <Empty title={title} text={data.reason ?? about} command={data.command ?? null} />;
		return result ? <ResultView result={result} title={title} /> : <Waiting text={null} />;
	};
}
