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
	{ id: 'overview', title: 'Overview', about: 'One screen about the run', component: Overview },
	{
		id: 'timeline',
		title: 'Timeline',
		about: 'Every event, on a line of time',
		component: Timeline,
		isWide: true,
	},
	{ id: 'flame', title: 'Flame', about: 'Where the time goes, stack by stack', component: Flame },
	{
		id: 'kernels',
		title: 'Kernels',
		about: 'Kernels, operators, launches',
		component: Kernels,
	},
	{
		id: 'memory',
		title: 'Memory',
		about: 'Memory over time, its peak and what it was made of',
		component: Memory,
		isEmpty: facts => facts.has_memory === false,
	},
	report('bottlenecks', 'Bottlenecks', 'What is worth changing, the costliest first'),
	{
		...report(
			'hta',
			'HTA',
			'Device time, idle causes, overlap, bandwidth, queues: as Holistic Trace Analysis has them',
		),
		isEmpty: facts => facts.has_device === false,
	},
	{ id: 'compare', title: 'Compare', about: 'This run beside others', component: Compare },
	{ id: 'layers', title: 'Layers', about: 'Time of each layer of the model', component: Layers },
	{
		id: 'distributed',
		title: 'Distributed',
		about: 'The ranks beside each other',
		component: Distributed,
		isEmpty: facts => (facts.n_ranks ?? 0) < 2,
	},
	{ id: 'gpu', title: 'GPU', about: 'Utilisation, memory, temperature and power', component: Gpu },
	{
		id: 'compile',
		title: 'Compile',
		about: 'What runs compiled and what compiling cost',
		component: Compile,
	},
	{ id: 'sql', title: 'SQL', about: 'Anything else', component: Sql },
];

export const VIEWS: View[] = LIST.map((view, i) => (i < 9 ? { ...view, key: String(i + 1) } : view));
