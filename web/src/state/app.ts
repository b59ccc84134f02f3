// What all views share: the address, the sessions, the trace that is looked at, the theme, messages.
import { computed, effect, signal } from '@preact/signals';
import * as address from '../data/address';
import { get, isAbort, sentence } from './api';
import type { Facts, Session } from './types';

// ---- The address ---------------------------------------------------------------------------------------------------

export const params = signal<address.Params>(address.parse(location.hash));

// Changes what is given; '' takes a parameter away. A step that the reader would go back over is pushed.
export function go(patch: address.Params, push = false): void {
	const next = { ...params.value, ...patch };
	for (const key of Object.keys(next)) if (next[key] === '') delete next[key];
	const hash = address.format(next);
	if (hash === address.format(params.value)) return;
	params.value = next;
	history[push ? 'pushState' : 'replaceState'](null, '', hash || location.pathname);
}

addEventListener('popstate', () => {
	params.value = address.parse(location.hash);
});
addEventListener('hashchange', () => {
	params.value = address.parse(location.hash);
});

export const view = computed(() => params.value['v'] ?? 'overview');
export const param = (name: string): string => params.value[name] ?? '';
const NOT_SHARED = ['s', 'v', 'steps', 'ranks', 'with'];

// Another view of the same trace; what belongs to the view before is left behind.
export function show(view: string, patch: address.Params = {}): void {
	const clear = Object.fromEntries(
		Object.keys(params.value)
			.filter(key => !NOT_SHARED.includes(key))
			.map(key => [key, '']),
	);
	go({ ...clear, ...patch, v: view }, true);
}

// Where rows and findings lead to; a report to mail has none.
export const hasTimeline = (document.documentElement.dataset['views'] ?? 'timeline').split(' ').includes('timeline');

export const link = (patch: address.Params): string =>
	location.origin + location.pathname + address.format({ ...params.value, ...patch });

// ---- Sessions ------------------------------------------------------------------------------------------------------

export const sessions = signal<Session[] | null>(null);
export const sessionError = signal<string | null>(null);
export const sessionId = computed(() => {
	const wanted = address.integer(params.value['s']);
	return wanted ?? sessions.value?.[0]?.id ?? null;
});
export const session = computed(() => sessions.value?.find(one => one.id === sessionId.value) ?? null);
export const sessionPath = computed(() => (sessionId.value === null ? null : `/sessions/${sessionId.value}`));

// When the picture of it was taken, whatever the server's clock says.
export const stamped = (one: Session): Session => ({
	...one,
	takenAt: typeof one.age_ns === 'number' ? Date.now() - one.age_ns / 1e6 : undefined,
});

export async function loadSessions(): Promise<void> {
	try {
		sessions.value = (await get<{ sessions: Session[] }>('/sessions')).sessions.map(stamped);
		sessionError.value = null;
	} catch (error) {
		sessionError.value = sentence(error);
	}
}

// The trace's facts. While a recording grows they are asked for again, and the old ones stay until the new are there.
export const facts = signal<Facts | null>(null);
export const factsError = signal<string | null>(null);
export const generation = computed(() => session.value?.generation ?? 0);
export const isPaused = signal(false);
// What views ask for depends on this; it stands still while the reader pauses.
export const shownGeneration = signal(0);

effect(() => {
	const now = generation.value;
	if (!isPaused.value) shownGeneration.value = now;
});

let factsOf: string | null = null;
effect(() => {
	const path = sessionPath.value;
	void shownGeneration.value;
	const control = new AbortController();
	if (path !== factsOf) {
		facts.value = null;
		factsError.value = null;
		factsOf = path;
	}
	if (path)
		get<Facts & { session: Session }>(path, control.signal).then(
			value => {
				facts.value = { ...value, name: value.session.name };
				factsError.value = null;
			},
			error => {
				if (!isAbort(error)) factsError.value = sentence(error);
			},
		);
	return () => control.abort();
});

// Step range and ranks are asked of every analysis.
export const filters = computed(() => ({ steps: param('steps'), ranks: param('ranks') }));

// ---- Theme, messages -----------------------------------------------------------------------------------------------

export type Theme = 'system' | 'light' | 'dark';
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const isSystemDark = signal(systemDark.matches);
systemDark.addEventListener('change', event => {
	isSystemDark.value = event.matches;
});

function storedTheme(): Theme {
	try {
		const stored = localStorage.getItem('theme');
		return stored === 'light' || stored === 'dark' ? stored : 'system';
	} catch {
		return 'system';
	}
}

export const theme = signal<Theme>(storedTheme());
// Paper is light, and so is what canvases have on it.
const isPrinting = signal(false);
addEventListener('beforeprint', () => {
	isPrinting.value = true;
});
addEventListener('afterprint', () => {
	isPrinting.value = false;
});
export const isDark = computed(
	() => !isPrinting.value && (theme.value === 'dark' || (theme.value === 'system' && isSystemDark.value)),
);
effect(() => {
	document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light';
	try {
		localStorage.setItem('theme', theme.value);
	} catch {
		// private windows may refuse; the theme holds for this page
	}
});

export const isHelpOpen = signal(false);
export const message = signal<string | null>(null);
let messageTimer = 0;

// A sentence at the bottom for a few seconds.
export function say(text: string): void {
	message.value = text;
	clearTimeout(messageTimer);
	messageTimer = setTimeout(() => {
		message.value = null;
	}, 4000) as unknown as number;
}

export async function copy(text: string, what: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		say(`Copied ${what}.`);
	} catch {
		say('The browser refused to copy.');
	}
}
