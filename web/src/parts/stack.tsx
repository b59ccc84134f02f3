// Shares of a whole as one bar, with a legend that has the numbers.
import * as format from '../data/format';
import { total, type NamedBreakdown, type Part } from '../data/breakdown';

export function Stack({ parts, span, label }: { parts: Part[]; span: number; label: string }) {
	return (
		<div
			class="stack"
			role="img"
			aria-label={`${label}: ${parts.map(part => `${part.name} ${format.percent((100 * part.ns) / span)} %`).join(', ')}`}
		>
			{parts
				.filter(part => part.ns > 0)
				.map(part => (
					<div
						key={part.name}
						class={`c${part.hue}`}
						style={{ flexGrow: String(part.ns), flexBasis: '0' }}
						title={`${part.name}: ${format.ns(part.ns)}, ${format.percent((100 * part.ns) / span)} %`}
					/>
				))}
		</div>
	);
}

export function Legend({ parts, span }: { parts: Part[]; span: number }) {
	return (
		<ul class="legend">
			{parts.map(part => (
				<li key={part.name} class={`c${part.hue}`}>
					{part.name} <b>{format.percent((100 * part.ns) / span)} %</b>{' '}
					<span class="quiet">{format.ns(part.ns)}</span>
				</li>
			))}
		</ul>
	);
}

const ROWS_DRAWN = 40;

// One below the other, all of the same length, so that short ones can be read.
export function Stacks({ list }: { list: NamedBreakdown[] }) {
	const all = total(list);

	return !all ? null : (
		<>
			{list.slice(0, ROWS_DRAWN).map(one => (
				<div key={one.name} class="rank-row">
					<span>{one.name}</span>
					<Stack parts={one.parts} span={one.span} label={one.name} />
					<span class="num">{format.ns(one.span)}</span>
				</div>
			))}
			{list.length > ROWS_DRAWN && (
				<p class="quiet">{format.count(list.length - ROWS_DRAWN)} more in the table.</p>
			)}
			<Legend parts={all.parts} span={all.span} />
		</>
	);
}

// Values with an error to either side, the largest first; negative ones to the left.
export interface Bar {
	name: string;
	value: number;
	low: number | null;
	high: number | null;
	text: string;
	hue?: number;
}

export function Bars({ bars, label }: { bars: Bar[]; label: string }) {
	const edge = (bar: Bar): number[] =>
		[bar.value, bar.low ?? bar.value, bar.high ?? bar.value].filter(Number.isFinite);
	const least = Math.min(0, ...bars.flatMap(edge)),
		most = Math.max(0, ...bars.flatMap(edge)),
		range = most - least || 1;
	const x = (value: number): number => (100 * (Math.max(least, Math.min(most, value)) - least)) / range;

	return (
		<div class="bars" role="img" aria-label={label}>
			{bars.map((bar, i) => (
				<div key={i} class="bar-row">
					<span class="mono" title={bar.name}>
						{format.middle(bar.name, 56)}
					</span>
					<span class="track">
						<span
							class={`fill c${bar.hue ?? 0}`}
							style={{
								left: `${x(Math.min(0, bar.value))}%`,
								width: `${Math.max(0.2, Math.abs(x(bar.value) - x(0)))}%`,
							}}
						/>
						{bar.low !== null && bar.high !== null && (
							<span
								class="error"
								style={{
									left: `${x(bar.low)}%`,
									width: `${Math.max(0.1, x(bar.high) - x(bar.low))}%`,
								}}
							/>
						)}
					</span>
					<span class="num">{bar.text}</span>
				</div>
			))}
		</div>
	);
}
