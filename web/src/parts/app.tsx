// The shell: bar, the view of the address, overlays, and keys that hold everywhere.
import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { noteText } from '../data/window';
import { factsError, facts, isHelpOpen, session, sessionError, sessionId, sessions, show, view } from '../state/app';
import { nRunning, opening } from '../state/api';
import { VIEWS } from '../views/list';
import { Bar } from './bar';
import { Failed, Waiting } from './empty';
import { Help } from './help';
import { NoSessions } from './sessions';
import { Toast } from './toast';
import { isTyping } from './typing';

function onKey(event: KeyboardEvent): void {
	if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
	if (event.key === 'Escape' && isHelpOpen.value) {
		isHelpOpen.value = false;
		event.preventDefault();
		return;
	}
	if (isTyping(event)) return;
	const wanted = VIEWS.find(one => one.key === event.key);
	if (wanted) show(wanted.id);
	else if (event.key === '?') isHelpOpen.value = !isHelpOpen.value;
	else if (event.key === '/') document.getElementById('search')?.focus();
	else return;
	event.preventDefault();
}

// A view that fails says so and leaves the others alone.
function Guard({ title, children }: { title: string; children: ComponentChildren }) {
	const [error] = useErrorBoundary(problem => console.error(problem));

	return error ? (
		<Failed
			title={title}
			text={`This view failed: ${error instanceof Error ? error.message : String(error)}. The other views still work.`}
		/>
	) : (
		<>{children}</>
	);
}

function Content() {
	if (sessionError.value) return <Failed title="The list of traces could not be loaded" text={sessionError.value} />;
	if (sessions.value && sessionId.value === null) return <NoSessions />;
	if (factsError.value) return <Failed title="This trace could not be opened" text={factsError.value} />;
	if (!facts.value) return <Waiting text={opening.value?.message ?? null} />;
	const one = VIEWS.find(known => known.id === view.value) ?? VIEWS[0]!;
	return (
		<Guard key={one.id + sessionId.value} title={one.title}>
			<one.component />
		</Guard>
	);
}

// What is shown may be less than the file holds.
function WindowNote() {
	const text = noteText(session.value);

	return text && <p class="window-note">{text}</p>;
}

export function App() {
	const one = VIEWS.find(known => known.id === view.value) ?? VIEWS[0]!;

	useEffect(() => {
		addEventListener('keydown', onKey);
		return () => removeEventListener('keydown', onKey);
	}, []);
	useEffect(() => {
		document.title = facts.value ? `${one.title} · ${facts.value.name} · Sonde` : 'Sonde';
	});
	return (
		<div class="shell">
			<Bar />
			<WindowNote />
			<main
				id="view"
				aria-label={one.title}
				aria-busy={nRunning.value > 0}
				class={one.isWide ? 'wide' : 'page'}
				tabIndex={-1}
			>
				<Content />
			</main>
			{isHelpOpen.value && <Help />}
			<Toast />
		</div>
	);
}
