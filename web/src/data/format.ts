// Numbers for people, as src/base/format_number.c writes them: three significant digits, a space, a unit.

export interface Unit {
	name: string;
	scale: number;
}

const NS: Unit[] = [
	{ name: 'ns', scale: 1 },
	{ name: 'us', scale: 1e3 },
	{ name: 'ms', scale: 1e6 },
	{ name: 's', scale: 1e9 },
];
const BYTES: Unit[] = ['B', 'KiB', 'MiB', 'GiB', 'TiB'].map((name, i) => ({ name, scale: 1024 ** i }));

function unitOf(units: Unit[], base: number, magnitude: number): Unit {
	let best = 0;
	while (best + 1 < units.length && magnitude >= units[best + 1]!.scale * (1 - 0.5 / base)) best++;
	return units[best]!;
}

// The unit in which the magnitude reads best; a column has one, from its largest value.
export const nsUnit = (magnitude: number): Unit => (magnitude > 0 ? unitOf(NS, 1000, magnitude) : NS[3]!);
export const bytesUnit = (magnitude: number): Unit => unitOf(BYTES, 1024, magnitude);

export function count(n: number): string {
	const text = String(Math.trunc(Math.abs(n)));
	return (n < 0 ? '-' : '') + text.replace(/\B(?=(\d{3})+$)/g, ',');
}

const decimalsFor = (size: number): number => (size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);

function value(v: number, maxDecimals: number): string {
	const size = Math.abs(v);
	if (size === 0) return '0';
	if (size >= 1e15) return v.toExponential(2);
	if (size < 0.005 && maxDecimals === 2) return v < 0 ? '>-0.01' : '<0.01';
	const decimals = Math.min(decimalsFor(size), maxDecimals);
	const scaled = Math.floor(size * 10 ** decimals + 0.5);
	const whole = Math.floor(scaled / 10 ** decimals);
	const rest = decimals ? '.' + String(scaled % 10 ** decimals).padStart(decimals, '0') : '';
	return (v < 0 ? '-' : '') + count(whole) + rest;
}

export function inUnit(v: number | null | undefined, unit: Unit): string {
	return v === null || v === undefined || !Number.isFinite(v)
		? '-'
		: `${value(v / unit.scale, unit.scale === 1 ? 0 : 2)} ${unit.name}`;
}

export const ns = (v: number | null | undefined): string => inUnit(v, nsUnit(Math.abs(v ?? 0)));
export const bytes = (v: number | null | undefined): string => inUnit(v, bytesUnit(Math.abs(v ?? 0)));
// A range that noise has blown up says no more than that it is wide.
export const percent = (v: number | null | undefined): string =>
	v === null || v === undefined || !Number.isFinite(v) ? '-' : v >= 1e5 ? '>99,999' : value(v, 2);

export function number(v: number | null | undefined): string {
	if (v === null || v === undefined || !Number.isFinite(v)) return '-';
	if (v !== 0 && Math.abs(v) < 0.01) return v.toExponential(2).replace(/e([+-])(\d)$/, 'e$10$2');
	if (Math.abs(v) >= 0.01 && Math.abs(v) < 0.995) return v.toFixed(3);
	return value(v, 2);
}

// A point in time with as many digits as a step of `step` ns needs: "1.250 s", "12.3 ms".
export function at(t: number, step: number): string {
	const unit = nsUnit(Math.max(Math.abs(t), step));
	const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit.scale) - 1e-9)));
	const [whole, rest] = Math.abs(t / unit.scale)
		.toFixed(decimals)
		.split('.') as [string, string?];
	return `${t < 0 ? '-' : ''}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${rest ? '.' + rest : ''} ${unit.name}`;
}

// Cut in the middle, where names differ least.
export function middle(text: string, max: number): string {
	if (text.length <= max) return text;
	const head = Math.ceil((max - 1) * 0.6);
	return text.slice(0, head) + '…' + text.slice(text.length - (max - 1 - head));
}

export const plural = (n: number, one: string, many = one + 's'): string => `${count(n)} ${n === 1 ? one : many}`;

// Values of a counter, by what its name says they are.
export const counterText = (name: string): ((value: number) => string) =>
	/bytes/i.test(name)
		? bytes
		: /(^|[ _])ns( |_|$)/.test(name)
			? ns
			: value => (Number.isInteger(value) ? count(value) : number(value));
