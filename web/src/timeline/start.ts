// The worker that paints. A file to mail carries its text; file: pages may not start one from elsewhere.
export function startWorker(): Worker {
	const text = document.getElementById('worker')?.textContent;
	return new Worker(text ? URL.createObjectURL(new Blob([text], { type: 'text/javascript' })) : '/worker.js');
}
