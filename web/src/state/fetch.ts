// An answer of the server in a component: kept while the next one is on its way.
import { useEffect, useState } from 'preact/hooks';
import { shownGeneration } from './app';
import { get, isAbort, sentence } from './api';

export interface Fetched<T> {
	data: T | null;
	error: string | null;
	isLoading: boolean;
	path: string | null;
}

export function useFetch<T>(path: string | null): Fetched<T> {
	const [state, setState] = useState<Fetched<T>>({ data: null, error: null, isLoading: path !== null, path });
	const generation = shownGeneration.value;

	useEffect(() => {
		if (path === null) {
			setState({ data: null, error: null, isLoading: false, path });
			return undefined;
		}
		const control = new AbortController();
		setState(before => ({ ...before, isLoading: true }));
		get<T>(path, control.signal).then(
			data => setState({ data, error: null, isLoading: false, path }),
			error => {
				if (!isAbort(error))
					setState({ data: null, error: sentence(error), isLoading: false, path });
			},
		);
		return () => control.abort();
	}, [path, generation]);
	return state;
}
