// Findings: the costliest first, seconds lost as bars, each with a way to its evidence in the timeline.
import * as format from '../data/format';
import { placeOf, type Finding } from '../data/result';
import { facts, hasTimeline, show } from '../state/app';

const MAX_NAMES = 12;

export const canShow = (finding: Finding): boolean =>
	finding.slices.length > 0 || finding.from_ns !== null || finding.first_step !== null;

// The timeline around the evidence, with it selected.
export function showFinding(finding: Finding): void {
	const patch: Record<string, string> = {};
	const end = facts.value?.duration_ns ?? 0;
	if (finding.from_ns !== null && finding.to_ns !== null) {
		const margin = Math.max(1000, Math.round((finding.to_ns - finding.from_ns) * 0.1));
		patch['from'] = String(Math.max(0, finding.from_ns - margin));
		patch['to'] = String(Math.min(end || Infinity, finding.to_ns + margin));
		patch['range'] = `${finding.from_ns}..${finding.to_ns}`;
	}
	if (finding.slices.length) {
		patch['sel'] = String(finding.slices[0]);
		patch['fit'] = '1';
		delete patch['range'];
	} else if (finding.from_ns === null && finding.first_step !== null)
		patch['step'] = `${finding.first_step}..${finding.last_step ?? finding.first_step}`;
	show('timeline', patch);
}

function Item({ finding, most, isShort }: { finding: Finding; most: number; isShort: boolean }) {
	const { seconds_lost: lost } = finding;

	return (
		<li class={`finding ${finding.severity}`}>
			<div class="head">
				<span class="severity">{finding.severity}</span>
				<h3>{finding.title}</h3>
				<span class="lost num">{lost === null ? '-' : format.ns(lost * 1e9)}</span>
				<span class="share num">
					{finding.share === null ? '' : `${format.percent(finding.share * 100)} %`}
				</span>
				<span class="lost-bar" aria-hidden="true">
					<span
						style={{
							width: `${lost === null || most <= 0 ? 0 : (100 * lost) / most}%`,
						}}
					/>
				</span>
				{hasTimeline && (
					<button disabled={!canShow(finding)} onClick={() => showFinding(finding)}>
						show me
					</button>
				)}
			</div>
			<div class="body">
				{(isShort ? finding.evidence.slice(0, 1) : finding.evidence).map(text => (
					<p key={text}>{text}</p>
				))}
				{finding.suggestion && (
					<p>
						<b>Change:</b> {finding.suggestion}
					</p>
				)}
				{!isShort && finding.affected.length > 0 && (
					<p class="names">
						<b>Affects:</b>{' '}
						{finding.affected.slice(0, MAX_NAMES).map(name => (
							<code key={name} title={name}>
								{format.middle(name, 72)}
							</code>
						))}
						{finding.affected.length > MAX_NAMES &&
							`and ${finding.affected.length - MAX_NAMES} more`}
					</p>
				)}
				{!hasTimeline && placeOf(finding) && (
					<p>
						<b>Evidence:</b> {placeOf(finding)}
					</p>
				)}
				{!isShort && finding.confidence !== null && finding.confidence < 1 && (
					<p class="quiet">
						Confidence {format.percent(finding.confidence * 100)} %. Rule:{' '}
						<code>{finding.rule}</code>
					</p>
				)}
			</div>
		</li>
	);
}

export function Findings({ findings, limit = Infinity }: { findings: Finding[]; limit?: number }) {
	const most = Math.max(0, ...findings.map(finding => finding.seconds_lost ?? 0));

	if (!findings.length) return <p class="quiet">No findings.</p>;
	return (
		<ol class="findings">
			{findings.slice(0, limit).map((finding, i) => (
				<Item key={finding.rule + i} finding={finding} most={most} isShort={limit < Infinity} />
			))}
		</ol>
	);
}
