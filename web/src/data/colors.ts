// Eight hues by what a slice is, the same as in reports and on the terminal; names inside get a stable tint.
import { mix, rgb } from '../timeline/paint';

const LIGHT = ['#2463b4', '#c25e00', '#0b7d63', '#a3397f', '#8a6d00', '#4b9bd8', '#7d3c1f', '#6b6f76'];
const DARK = ['#6aa5f0', '#f29a4a', '#4cc3a3', '#e08bc3', '#d9bb45', '#a5d3f7', '#cf8d6a', '#a7adb6'];
export const HUE: Record<string, number> = {
	compute: 0,
	communication: 1,
	kernel: 2,
	data_load: 3,
	memory: 4,
	copy: 4,
	runtime: 5,
	sync: 6,
	phase: 0,
	step: 7,
	annotation: 7,
	python: 7,
	overhead: 6,
	other: 7,
};

export function parse(hex: string): number {
	const value = parseInt(hex.slice(1), 16);
	return rgb(value >> 16, (value >> 8) & 255, value & 255);
}
export const css = (color: number): string => `rgb(${color & 255} ${(color >>> 8) & 255} ${(color >>> 16) & 255})`;

function hash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	h ^= h >>> 15;
	return (Math.imul(h, 0x2c1b3c6d) >>> 8) & 0xffff;
}

const background = (isDark: boolean): number => parse(isDark ? '#14171c' : '#ffffff');

export const hueColor = (hue: number, isDark: boolean): number => parse((isDark ? DARK : LIGHT)[hue & 7]!);

// What surrounds the work is quieter than the work.
const QUIET = new Set(['python', 'annotation', 'step', 'phase']);

// The box of a name: its class's hue, softened towards the background, by the name more or less.
export function siteColor(name: string, kind: string, isDark: boolean): number {
	const tint = hash(name) / 0xffff;
	return mix(
		hueColor(HUE[kind] ?? 7, isDark),
		background(isDark),
		(QUIET.has(kind) ? 0.2 : 0.5) + (QUIET.has(kind) ? 0.2 : 0.32) * tint,
	);
}

export function luminance(color: number): number {
	const part = (v: number): number => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	return (
		0.2126 * part((color & 255) / 255) +
		0.7152 * part(((color >>> 8) & 255) / 255) +
		0.0722 * part(((color >>> 16) & 255) / 255)
	);
}

// Black or white, whichever reads better.
export const textOn = (color: number): string => (luminance(color) > 0.179 ? '#0b0d10' : '#ffffff');

// A name short enough for a box: a Python function without its folders, a C++ kernel without return type, template
// arguments and parameters.
export function shortName(name: string): string {
	if (/\.py\(\d+\): /.test(name)) return name.replace(/^.*\/(?=[^/]*\.py\()/, '');
	const text = name.startsWith('void ') ? name.slice(5) : name;
	const at = text.search(/[<(]/);
	return at > 3 && (text.includes('::') || name !== text) ? text.slice(0, at) : text;
}
