// The search box. The view that is shown answers Enter and Shift-Enter; elsewhere the timeline does.
import { signal } from '@preact/signals';
import { param, show, view } from '../state/app';

export type Direction = 'next' | 'previous';
// Set by the view that can go from one match to the next.
export const onSearch = signal<((direction: Direction) => void) | null>(null);

export function searchKey(event: KeyboardEvent): void {
	if (event.key === 'Escape') (event.currentTarget as HTMLElement).blur();
	if (event.key !== 'Enter' || !param('q')) return;
	if (onSearch.value) onSearch.value(event.shiftKey ? 'previous' : 'next');
	else if (view.value !== 'timeline') show('timeline', { q: param('q') });
	event.preventDefault();
}
