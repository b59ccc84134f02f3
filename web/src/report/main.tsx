// A report as a file to mail: the parts of the page, with one result inside (src/present/html_data.c).
import { render } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import '../style/tokens.css';
import '../style/base.css';
import '../style/parts.css';
import '../style/flame.css';
import './report.css';
import * as format from '../data/format';
import { titleOf, type Result } from '../data/result';
import { FlameCanvas, valueText } from '../flame/canvas';
import { Cut, matchText } from '../flame/lines';
import { treeOf, type Answer } from '../flame/tree';
import { Differences } from '../parts/differences';
import { ResultView } from '../parts/report';
import { ThemeButton } from '../parts/theme';
import { Toast } from '../parts/toast';

interface Report extends Result {
	name: string;
	headline: string;
	flame: Answer | null;
	written: string;
}

function Flame({ answer }: { answer: Answer }) {
	const tree = useMemo(() => treeOf(answer), [answer]);
	const [zoom, setZoom] = useState<number | null>(null);
	const [search, setSearch] = useState('');

	return (
		<section class="block" id="flame">
			<div class="table-tools">
				<h2>Flame graph</h2>
				<span class="quiet">
					{valueText(tree, answer.total)} in {format.plural(tree.n, 'frame')}.{' '}
					{search.trim() && matchText(tree, search)}
				</span>
				<span class="spring" />
				{zoom !== null && <button onClick={() => setZoom(null)}>zoom out</button>}
				<input
					type="search"
					placeholder="search"
					aria-label="Search the flame graph"
					value={search}
					onInput={event => setSearch(event.currentTarget.value)}
				/>
			</div>
			<FlameCanvas
				tree={tree}
				isUp={false}
				search={search}
				label="Flame graph. Arrows move, Enter zooms."
				zoom={zoom}
				onZoom={setZoom}
			/>
			<Cut tree={tree} />
		</section>
	);
}

// Where there is much, the way to each.
function Contents({ report }: { report: Report }) {
	const tables = report.tables.filter(table => table.rows.length > 0);

	return tables.length < 3 ? null : (
		<nav aria-label="Tables">
			{tables.map((table, i) => [
				<a key={table.key} href={`#table-${table.key}`}>
					{table.title}
				</a>,
				i === 0 && report.flame && <a href="#flame">Flame graph</a>,
			])}
		</nav>
	);
}

function Page({ report }: { report: Report }) {
	return (
		<>
			<header>
				<span class="quiet">sonde {report.name}</span>
				<ThemeButton />
			</header>
			<main>
				<ResultView
					result={report}
					title={report.name}
					picture={report.flame && <Flame answer={report.flame} />}
				>
					<Contents report={report} />
					{report.name === 'compare' && <Differences result={report} />}
				</ResultView>
			</main>
			<footer class="quiet">{report.written}</footer>
			<Toast />
		</>
	);
}

const data = JSON.parse(document.getElementById('data')!.textContent!) as Report;
const tables = data.tables.map(table => ({ ...table, title: table.title ?? titleOf(table.key) }));
render(<Page report={{ ...data, tables }} />, document.getElementById('app')!);
