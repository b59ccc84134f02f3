// The views, in the order of their tabs. A new one is a line here.
import type { ComponentType } from 'preact';
import { reportView } from '../parts/report';
import type { Facts } from '../state/types';
import { Compare } from './compare';
import { Flame } from './flame';
import { Memory } from './memory';
import { Overview } from './overview';
import { Compile, Distributed, Gpu, Kernels, Layers } from './pages';
import { Sql } from './sql';
import { Timeline } from './timeline';

export interface View {
	id: string;
	title: string;
	about: string;
	key?: string;
	component: ComponentType;
	isWide?: boolean; // the view lays itself out and fills the window
	isEmpty?: (facts: Facts) => boolean; // it has nothing to show, as far as is known
}

const report = (id: string, title: string, about: string): View => ({
	id,
	title,
	about,
	component: reportView(title, `/${id}`, about),
});

const LIST: View[] = [
	{ id: 'overview', title: 'Overview', about: 'Summary of the run', component: Overview },
	{
		id: 'timeline',
		title: 'Timeline',
		about: 'Every event over time',
		component: Timeline,
		isWide: true,
	},
	{ id: 'flame', title: 'Flame', about: 'Time by stack', component: Flame },
	{
		id: 'kernels',
		title: 'Kernels',
		about: 'Kernels, operators, launches',
		component: Kernels,
	},
	{
		id: 'memory',
		title: 'Memory',
		about: 'Memory over time, and the composition of its peak',
		component: Memory,
		isEmpty: facts => facts.has_memory === false,
	},
	report('bottlenecks', 'Bottlenecks', 'Findings, the most expensive first'),
	{
		...report(
			'hta',
			'HTA',
			'Device time, idle causes, overlap, bandwidth, queues, as in Holistic Trace Analysis',
		),
		isEmpty: facts => facts.has_device === false,
	},
	{ id: 'compare', title: 'Compare', about: 'Comparison with other runs', component: Compare },
	{ id: 'layers', title: 'Layers', about: 'Time of each layer of the model', component: Layers },
	{
		id: 'distributed',
		title: 'Distributed',
		about: 'The ranks side by side',
		component: Distributed,
		isEmpty: facts => (facts.n_ranks ?? 0) < 2,
	},
	{ id: 'gpu', title: 'GPU', about: 'Utilization, memory, temperature and power', component: Gpu },
	{
		id: 'compile',
		title: 'Compile',
		about: 'Compiled time and the cost of compilation',
		component: Compile,
	},
	{ id: 'sql', title: 'SQL', about: 'Queries over the trace', component: Sql },
];

export const VIEWS: View[] = LIST.map((view, i) => (i < 9 ? { ...view, key: String(i + 1) } : view));
