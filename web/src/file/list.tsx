// The views that the file has data for, in place of views/list.
import { Flame } from '../views/flame';
import { Timeline } from '../views/timeline';
import type { View } from '../views/list';

const held = (document.documentElement.dataset['views'] ?? '').split(' ');
const LIST: View[] = [
	{
		id: 'timeline',
		title: 'Timeline',
		about: 'Every event over time',
		component: Timeline,
		isWide: true,
	},
	{ id: 'flame', title: 'Flame', about: 'Time by stack', component: Flame },
];

export const VIEWS: View[] = LIST.filter(view => held.includes(view.id));
