// What a page says when it does not show everything: a damaged file, or only the newest events of a recording.
import type { Session } from '../state/types';
import { ns, percent } from './format';

function rest(one: Session): string {
	if (one.state === 'live')
		return one.window?.catches_up
			? 'older events are being read'
			: 'older events are indexed after the recording ends';
	if (one.message) return `older events are not shown: ${one.message}`;
	return 'older events are being indexed' + (one.progress ? `, ${percent(100 * one.progress)} %` : '');
}

// null: everything is shown.
export const windowText = (one: Session | null): string | null =>
	one?.window ? `The newest ${ns(one.window.dur_ns)} of ${ns(one.duration_ns)}; ${rest(one)}.` : null;

export const noteText = (one: Session | null): string | null =>
	one?.damage ? `The file is damaged: ${one.damage}.` : windowText(one);
