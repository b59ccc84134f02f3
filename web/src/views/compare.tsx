// Runs beside each other: which is faster, for sure or perhaps, and what changed.
import { go, param, session, sessionId, sessions, show } from '../state/app';
import { Differences } from '../parts/differences';
import { Empty, Failed, Waiting } from '../parts/empty';
import { ResultView, useReport } from '../parts/report';

function Choose() {
	const chosen = param('with').split(',').filter(Boolean);
	const others = (sessions.value ?? []).filter(one => one.id !== sessionId.value);
	const toggle = (id: string): void =>
		go(
			{ with: (chosen.includes(id) ? chosen.filter(one => one !== id) : [...chosen, id]).join(',') },
			true,
		);

	return (
		<div class="tool-row">
			<span>{session.value?.name} with</span>
			{others.map(one => (
				<button
					key={one.id}
					aria-pressed={chosen.includes(String(one.id))}
					onClick={() => toggle(String(one.id))}
				>
					{one.name}
				</button>
			))}
			{chosen.length === 1 && (
				<button class="link" onClick={() => show('flame', { with: chosen[0]! })}>
					as a flame graph
				</button>
			)}
		</div>
	);
}

function Body() {
	const { data, error, result } = useReport('/compare', { with: param('with') });

	if (error) return <Failed title="Compare" text={error} />;
	if (data?.available === false)
		return (
			<Empty
				title="Compare"
				text={data.reason ?? 'These traces cannot be compared.'}
				command={data.command ?? null}
			/>
		);
	if (!result) return <Waiting text={null} />;
	return (
		<ResultView result={result} title="Comparison">
			<Differences result={result} />
		</ResultView>
	);
}

export function Compare() {
	const nOthers = (sessions.value?.length ?? 1) - 1;

	return (
		<>
			{nOthers > 0 && <Choose />}
			{param('with') ? (
				<Body />
			) : (
				<Empty
					title="Compare"
					text={
						nOthers > 0
							? 'Choose a trace above to compare this one with.'
							: 'Only one trace is open. Open another, or start the server with several.'
					}
					command={nOthers > 0 ? null : 'sonde serve before.sonde after.sonde'}
				/>
			)}
		</>
	);
}
