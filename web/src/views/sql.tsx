// Questions in SQL over the trace's tables; read only, with a limit of time and rows.
import { useEffect, useRef, useState } from 'preact/hooks';
import * as format from '../data/format';
import { headerOf, typeOf, type Cell, type Table } from '../data/result';
import { go, param, sessionPath, show } from '../state/app';
import { send, sentence } from '../state/api';
import { TableView } from '../parts/table';

interface Answer {
	columns: string[];
	rows: Cell[][];
	truncated: boolean;
	time_ms?: number;
	time_ns?: number;
}

const EXAMPLES: [string, string][] = [
	['longest slices', 'select id, name, dur, ts from slices order by dur desc limit 20'],
	[
		'time by name',
		'select name, count(*) as calls, sum(dur) as total_ns from slices group by name order by total_ns desc limit 50',
	],
	[
		'kernels',
		'select name, count(*) as calls, sum(dur) as total_ns from kernels group by name order by total_ns desc limit 50',
	],
	['steps', 'select * from steps limit 200'],
	['tables', "select name, sql from sqlite_master where type = 'table'"],
];

function tableOf(answer: Answer): Table {
	const columns = answer.columns.map((key, i) => ({
		key,
		header: headerOf(key),
		type: typeOf(
			/^(dur|ts|self|total)$/.test(key) ? `${key}_ns` : key,
			answer.rows.slice(0, 100).map(row => row[i]),
		),
	}));
	return { key: 'rows', title: null, columns, rows: answer.rows, depths: null, chart: null };
}

export function Sql() {
	const [text, setText] = useState(param('sql') || EXAMPLES[1]![1]);
	const [answer, setAnswer] = useState<Answer | null>(null);
	const [error, setError] = useState<string | null>(null);
	const [isRunning, setRunning] = useState(false);
	const asked = useRef(0); // what was asked last is what is shown

	const run = async (sql: string): Promise<void> => {
		const turn = ++asked.current;
		setText(sql);
		setRunning(true);
		setError(null);
		go({ sql });
		try {
			const got = await send<Answer>('POST', `${sessionPath.value}/sql`, { sql, limit: 10000 });
			if (turn === asked.current) setAnswer(got);
		} catch (problem) {
			if (turn !== asked.current) return;
			setAnswer(null);
			setError(sentence(problem));
		} finally {
			if (turn === asked.current) setRunning(false);
		}
	};
	// A question of its own to begin with, and the one in a link.
	useEffect(() => void run(text), [sessionPath.value]);
	const table = answer && tableOf(answer),
		id = answer ? answer.columns.findIndex(name => name === 'id' || name === 'slice') : -1;

	return (
		<>
			<h1>SQL</h1>
			<div class="tool-row">
				<span class="quiet">for example</span>
				{EXAMPLES.map(([name, sql]) => (
					<button key={name} onClick={() => run(sql)}>
						{name}
					</button>
				))}
			</div>
			<textarea
				class="sql"
				aria-label="SQL"
				spellcheck={false}
				value={text}
				onInput={event => setText(event.currentTarget.value)}
				onKeyDown={event => {
					if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
						event.preventDefault();
						void run(text);
					}
				}}
			/>
			<div class="tool-row">
				<button onClick={() => run(text)} disabled={isRunning}>
					run <kbd>Ctrl Enter</kbd>
				</button>
				{answer && (
					<span class="quiet">
						{format.plural(answer.rows.length, 'row')}
						{answer.truncated ? ', and there are more' : ''}
						{answer.time_ns !== undefined
							? `, ${format.ns(answer.time_ns)}`
							: answer.time_ms !== undefined
								? `, ${format.ns(answer.time_ms * 1e6)}`
								: ''}
					</span>
				)}
			</div>
			{error && (
				<p role="alert" class="sql-error">
					{error}
				</p>
			)}
			{table && (
				<section class="block">
					<TableView
						table={table}
						maxHeight={640}
						onRow={
							id >= 0
								? row =>
										show('timeline', {
											sel: String(
												table.rows[row]![id],
											),
											fit: '1',
										})
								: undefined
						}
						rowTitle="Show it in the timeline"
					/>
				</section>
			)}
		</>
	);
}
