// The bar at the top: trace, views, search, step range, ranks, theme, help.
import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { facts, go, isHelpOpen, isPaused, param, session, show, view } from '../state/app';
import { nRunning, opening } from '../state/api';
import { VIEWS } from '../views/list';
import { SessionMenu } from './sessions';
import { searchKey } from './search';
import { ThemeButton } from './theme';

function Mark() {
	return (
		<svg viewBox="0 0 16 16" aria-hidden="true">
			<rect width="16" height="16" rx="3" fill="var(--accent)" />
			<path d="M3 5h10M3 8h6M5 11h7" stroke="var(--on-accent)" stroke-width="2" />
		</svg>
	);
}

function Tabs() {
	const move = (event: KeyboardEvent): void => {
		const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
		if (!step) return;
		const at = VIEWS.findIndex(one => one.id === view.value);
		const next = VIEWS[(at + step + VIEWS.length) % VIEWS.length]!;
		show(next.id);
		document.getElementById(`tab-${next.id}`)?.focus();
		event.preventDefault();
		event.stopPropagation();
	};
	return (
		<div class="tabs" role="tablist" aria-label="Views" onKeyDown={move}>
			{VIEWS.map(one => (
				<button
					id={`tab-${one.id}`}
					key={one.id}
					role="tab"
					aria-selected={view.value === one.id}
					tabIndex={view.value === one.id ? 0 : -1}
					aria-controls="view"
					title={one.about}
					class={facts.value && one.isEmpty?.(facts.value) ? 'empty' : ''}
					onClick={() => show(one.id)}
				>
					{one.title}
					{one.key && <kbd aria-hidden="true">{one.key}</kbd>}
				</button>
			))}
		</div>
	);
}

function Progress() {
	const [isSlow, setSlow] = useState(false);
	const isRunning = nRunning.value > 0;

	useEffect(() => {
		setSlow(false);
		if (!isRunning) return undefined;
		const timer = setTimeout(() => setSlow(true), 300);
		return () => clearTimeout(timer);
	}, [isRunning]);
	if (!isSlow) return null;
	const share = opening.value?.progress ?? null;
	return (
		<div class="progress" role="progressbar" aria-label="Waiting for the server">
			{share === null ? <div class="unknown" /> : <div style={{ width: `${100 * share}%` }} />}
		</div>
	);
}

function Filters() {
	const ranks = facts.value?.ranks ?? [];

	return (
		<>
			{(facts.value?.n_steps ?? 0) > 1 && (
				<input
					class="steps"
					aria-label="Step range, such as 11..20"
					placeholder="all steps"
					title="Step range, such as 11..20"
					value={param('steps')}
					onChange={event =>
						go(
							{
								steps: event.currentTarget.value
									.trim()
									.replace(
										/^(\d+)\s*(?:-|–|to)\s*(\d+)$/,
										'$1..$2',
									),
							},
							true,
						)
					}
				/>
			)}
			{ranks.length > 1 && (
				<select
					aria-label="Rank"
					value={param('ranks')}
					onChange={event => go({ ranks: event.currentTarget.value }, true)}
				>
					<option value="">all ranks</option>
					{ranks.map(rank => (
						<option key={rank} value={String(rank)}>
							rank {rank}
						</option>
					))}
				</select>
			)}
		</>
	);
}

const FRESH_S = 3; // what is younger is now

// Large recordings are read less often: how old what is shown is, once a second.
function useAge(): number | null {
	const now = useSignal(Date.now()),
		held = useRef<number | undefined>(undefined);

	useEffect(() => {
		const timer = setInterval(() => (now.value = Date.now()), 1000);
		return () => clearInterval(timer);
	}, []);
	if (!isPaused.value) held.current = session.value?.takenAt;
	return held.current === undefined ? null : Math.max(0, Math.round((now.value - held.current) / 1000));
}

function Live() {
	const age = useAge();

	if (session.value?.state !== 'live') return null;
	return (
		<button
			class="plain"
			aria-pressed={isPaused.value}
			onClick={() => {
				isPaused.value = !isPaused.value;
			}}
			title={
				(isPaused.value ? 'Follow the recording' : 'Freeze the page') +
				(age === null ? '' : `; the data is ${age} s old`)
			}
		>
			<span class={isPaused.value ? 'live paused' : 'live'}>
				{isPaused.value ? 'paused' : 'live'}
				{age !== null && age >= FRESH_S ? `, ${age} s ago` : ''}
			</span>
		</button>
	);
}

export function Bar() {
	const isMenuOpen = useSignal(false);

	return (
		<header class="topbar">
			<span class="brand">
				<Mark />
			</span>
			<button
				class="trace"
				aria-expanded={isMenuOpen.value}
				aria-haspopup="true"
				title="Switch, compare, open"
				onClick={() => {
					isMenuOpen.value = !isMenuOpen.value;
				}}
			>
				<span>{session.value?.name ?? 'traces'}</span> ▾
			</button>
			{isMenuOpen.value && (
				<SessionMenu
					close={() => {
						isMenuOpen.value = false;
					}}
				/>
			)}
			<Tabs />
			<div class="tools">
				<Live />
				<input
					id="search"
					class="search"
					type="search"
					placeholder="search  /"
					aria-label="Search names"
					value={param('q')}
					onInput={event => go({ q: event.currentTarget.value })}
					onKeyDown={searchKey}
				/>
				<Filters />
				<ThemeButton />
				<button
					class="plain"
					aria-label="Keys and help"
					title="Keys and help (?)"
					onClick={() => {
						isHelpOpen.value = true;
					}}
				>
					?
				</button>
			</div>
			<Progress />
		</header>
	);
}
