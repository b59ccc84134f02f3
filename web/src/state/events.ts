// What the server tells by itself: sessions that come, open, grow and end.
import type { Session } from './types';
import { loadSessions, say, sessions, sessionId, stamped } from './app';

function apply(next: Session): void {
	const before = sessions.value ?? [];
	const old = before.find(one => one.id === next.id);
	sessions.value = old ? before.map(one => (one.id === next.id ? { ...one, ...next } : one)) : [...before, next];
	if (old?.state === 'live' && next.state !== 'live' && next.id === sessionId.value)
		say(
			next.state === 'failed'
				? `The recording failed: ${next.message ?? 'no reason given'}`
				: 'The run has ended.',
		);
}

export function listen(): void {
	const source = new EventSource('/api/v1/events');
	let wasLost = false;

	source.addEventListener('session', event => {
		try {
			apply(stamped(JSON.parse((event as MessageEvent<string>).data) as Session));
		} catch {
			// a line that is no JSON says nothing
		}
	});
	source.addEventListener('open', () => {
		if (wasLost) void loadSessions();
		wasLost = false;
	});
	source.addEventListener('error', () => {
		wasLost = true;
	});
	addEventListener('pagehide', () => source.close());
}
