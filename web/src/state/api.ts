// The server's answers. A trace that is still being opened is asked again until it is there.
import { signal } from '@preact/signals';

export class ApiError extends Error {
	constructor(
		message: string,
		readonly status: number,
		readonly code: string,
	) {
		super(message);
	}
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';
export const sentence = (error: unknown): string =>
	error instanceof TypeError && /fetch|network/i.test(error.message)
		? 'The server does not respond. Check that sonde serve is running.'
		: error instanceof Error
			? error.message
			: String(error);

// What is on its way, for the thin bar; and how far the opening of a trace is.
export const nRunning = signal(0);
export const opening = signal<{ message: string; progress: number | null } | null>(null);

interface ErrorBody {
	error?: { code?: string; message?: string; progress?: number };
}

const BASE = '/api/v1';

// Who answers: the server, or the file itself that this page is (file/source.ts).
let source = (path: string, init: RequestInit): Promise<Response> =>
	fetch(BASE + path, { credentials: 'same-origin', ...init });
export let isFile = false; // nothing can be kept
export const setSource = (other: typeof source): void => {
	source = other;
	isFile = true;
};

const wait = (ms: number, signal?: AbortSignal | null): Promise<void> =>
	new Promise((resolve, reject) => {
		const timer = setTimeout(resolve, ms);
		signal?.addEventListener(
			'abort',
			() => {
				clearTimeout(timer);
				reject(new DOMException('aborted', 'AbortError'));
			},
			{ once: true },
		);
	});

async function errorOf(response: Response): Promise<{ error: ApiError; progress: number | null }> {
	let body: ErrorBody = {};
	try {
		body = (await response.json()) as ErrorBody;
	} catch {
		// not JSON: the status is all there is
	}
	const message = body.error?.message ?? `The server answered ${response.status} ${response.statusText}.`;
	return {
		error: new ApiError(message, response.status, body.error?.code ?? ''),
		progress: body.error?.progress ?? null,
	};
}

export async function request(path: string, init: RequestInit = {}): Promise<Response> {
	nRunning.value = nRunning.peek() + 1;
	try {
		for (;;) {
			const response = await source(path, init);
			if (response.ok && response.status !== 202) {
				opening.value = null;
				return response;
			}
			const { error, progress } = await errorOf(response);
			if (response.status !== 202 && error.code !== 'opening') {
				opening.value = null;
				throw error;
			}
			opening.value = { message: error.message, progress };
			await wait(250, init.signal);
		}
	} finally {
		nRunning.value = nRunning.peek() - 1;
	}
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
	return (await (await request(path, { signal: signal ?? null })).json()) as T;
}

export async function send<T>(
	method: 'POST' | 'PATCH' | 'DELETE',
	path: string,
	body?: unknown,
	signal?: AbortSignal,
): Promise<T> {
	const init: RequestInit = { method, signal: signal ?? null };
	if (body instanceof Blob) init.body = body;
	else if (body !== undefined) {
		init.body = JSON.stringify(body);
		init.headers = { 'Content-Type': 'application/json' };
	}
	const text = await (await request(path, init)).text();
	return (text ? JSON.parse(text) : null) as T;
}

export function query(params: Record<string, string | number | null | undefined>): string {
	const parts = Object.entries(params)
		.filter(([, value]) => value !== null && value !== undefined && value !== '')
		.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
	return parts.length ? '?' + parts.join('&') : '';
}
