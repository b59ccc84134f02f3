// The views, in the order of their tabs. A new one is a line here.
import type { ComponentType } from 'preact';
import { reportView } from '../parts/report';
import { Timeline } from './timeline';
import type { Facts } from '../state/types';

export interface View {
	id: string;
	title: string;
	about: string;
	key?: string;
	component: ComponentType;
	isWide?: boolean; // the view lays itself out and fills the window
	isEmpty?: (facts: Facts) => boolean; // it has nothing to show, as far as is known
}

const report = (id: string, title: string, about: string, path = `/${id}`): View => ({ id, title, about, component: reportView(title, path, about) });

export const VIEWS: View[] = [
	report('overview', 'Overview', 'One screen about the run', '/report/summary'),
	{ id: 'timeline', title: 'Timeline', about: 'Every event, on a line of time', component: Timeline, isWide: true },
	report('kernels', 'Kernels', 'What ran on the device, by name'),
	report('memory', 'Memory', 'Memory over time, its peak and what it was made of', '/report/memory'),
	report('bottlenecks', 'Bottlenecks', 'What is worth changing, the costliest first'),
	report('hta', 'HTA', 'The analyses of Holistic Trace Analysis'),
	report('layers', 'Layers', 'Time of each layer of the model'),
	report('distributed', 'Distributed', 'The ranks beside each other'),
	report('gpu', 'GPU', 'Utilisation, memory, temperature and power'),
	report('compile', 'Compile', 'What torch.compile did'),
].map((view, i) => i < 9 ? { ...view, key: String(i + 1) } : view);
