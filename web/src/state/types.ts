// What the server says; docs/api.md.

// What is shown of a recording that grows faster than it is read.
export interface Window {
	from_ns: number;
	dur_ns: number;
	n_events: number;
	catches_up: boolean;
}

export interface Session {
	id: number;
	name: string;
	state: 'closed' | 'opening' | 'ready' | 'live' | 'failed';
	progress?: number | null;
	message?: string | null;
	size_bytes?: number | null;
	n_events?: number | null;
	duration_ns?: number | null;
	window?: Window | null; // null: everything is shown
	damage?: string | null; // the part of the file that cannot be read
	generation?: number;
	age_ns?: number | null; // how long ago it was read, when this was said
	takenAt?: number; // the same on our clock, in milliseconds
}

export interface Diagnostic {
	kind: string;
	count: number;
	lost?: boolean;
	file?: string;
	first?: number | null;
}

export interface Facts {
	name: string;
	duration_ns: number;
	n_slices: number;
	n_steps?: number;
	kind?: string;
	ranks?: number[];
	n_ranks?: number;
	has_device?: boolean;
	has_memory?: boolean;
	has_counters?: boolean;
	meta?: { key: string; value: unknown; rank?: number | null }[] | Record<string, unknown>;
	diagnostics?: Diagnostic[];
	session?: Session;
	[more: string]: unknown;
}

export type TrackKind = 'thread' | 'stream' | 'async' | 'process';
export interface Process {
	id: number;
	pid?: number | string | null;
	name: string | null;
	labels?: string | null;
	rank: number | null;
	sort?: number;
	device?: number | null;
}
export interface Track {
	id: number;
	kind: TrackKind;
	name: string | null;
	number?: number | string | null; // thread id, stream number
	rank: number | null;
	process: number;
	sort: number;
	n_slices: number;
	n_instants?: number | null;
	device?: number | null;
}
export interface Lane {
	lane: number;
	track: number;
	group: number;
	depth: number;
	n_slices: number;
	first_slice: number;
}
export interface Counter {
	id: number;
	name: string;
	track: number;
	n_values: number;
	unit?: string | null;
}
export interface Tracks {
	processes: Process[];
	tracks: Track[];
	lanes: Lane[];
	counters: Counter[];
	generation?: number;
}

export interface Site {
	name: string;
	category: string;
	class: string;
}

export interface SliceRef {
	id: number;
	name: string;
	class: string;
	start_ns: number;
	dur_ns: number;
	lane: number;
	track: number;
}
export interface Flow {
	dir: 'in' | 'out';
	kind: string;
	name: string;
	slice: SliceRef | null;
}
export interface Slice extends SliceRef {
	category: string;
	self_ns: number | null;
	thread?: string | null;
	rank: number | null;
	depth: number;
	args: Record<string, unknown> | null;
	parents: SliceRef[];
	n_children: number;
	flows: Flow[];
	stack?: string[] | null;
	is_open?: boolean;
	is_repaired?: boolean;
}

export interface Instant {
	id: number;
	name: string;
	category: string;
	class: string;
	time_ns: number;
	track: number;
	thread?: string | null;
	rank: number | null;
	args: Record<string, unknown> | null;
	previous: number | null; // on its track
	next: number | null;
}

export interface Step {
	number: number;
	start_ns: number;
	dur_ns: number;
	rank: number | null;
	slice: number | null;
}
export interface TimeNote {
	id: number;
	from_ns: number;
	to_ns: number;
	text: string;
	created?: string;
}
export interface SavedView {
	id: number;
	name: string;
	state: string;
}
