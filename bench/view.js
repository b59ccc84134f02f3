// The page in a browser without a GPU: its size, the first paint, drawing, panning and zooming over a trace of any size.
//
//   node view.js SONDE TRACE JSON [VIEWS]
//
// First paint: the browser's own first-contentful-paint on loopback, median of 7 loads. Drawing: the worker's time for a
// frame of 20,000 boxes with their labels, median and p95 of 30. A view: all lanes in sight at 1920 pixels, from asking
// the server to decoded rectangles, at any place, of any width from the whole trace to a hundred-thousandth of it, each
// factor of two equally often; each is asked three times and the quickest counts: that survives a busy machine.
'use strict';
const fs = require('fs');
const zlib = require('zlib');
const { launch, open, serve, settled } = require('../tests/browser/lib');

const [sonde, file, output, wanted = '200'] = process.argv.slice(2);
const results = [];
const at = (values, share) =>
	[...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const put = (name, unit, value, goal) => results.push({ case: name, unit, best: value, goal, pass: value <= goal });

async function size(page, server) {
	let sum = 0;
	for (const path of ['/', '/app.js', '/app.css', '/worker.js']) {
		const response = await page.request.get(server.base + path);
		sum += zlib.gzipSync(await response.body(), { level: 9 }).length;
	}
	put('the whole page, gzip', 'KiB', sum / 1024, 100);
}

async function firstPaint(browser, server) {
	const times = [];
	for (let i = 0; i < 7; i++) {
		const { page, context } = await open(browser, server, {}, '#s=1&v=timeline');
		await page.reload();
		await settled(page);
		times.push(
			await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime),
		);
		await context.close();
	}
	put('first paint, median', 'ms', at(times, 0.5), 300);
}

// A frame with 20,000 boxes, whatever the trace: the worker is the page's own.
async function drawing(page) {
	const times = await page.evaluate(
		() =>
			new Promise((resolve, reject) => {
				const worker = new Worker('/worker.js'),
					width = 2000,
					lanes = 40,
					each = 500,
					words = new Uint32Array(lanes * each * 4),
					index = new Map(),
					times = [];
				// One that is nowhere on the page may get no frames.
				const element = document.body.appendChild(document.createElement('canvas')),
					canvas = element.transferControlToOffscreen();
				setTimeout(() => reject(new Error('no frames for 30 s')), 30000);
				for (let lane = 0; lane < lanes; lane++) {
					index.set(lane, { at: lane * each, n: each });
					for (let i = 0; i < each; i++)
						words.set(
							[(i * 4) | (3 << 16), (lane * 7 + i) % 200, 1 | (255 << 24), i],
							(lane * each + i) * 4,
						);
				}
				const colors = {
					sites: Uint32Array.from({ length: 200 }, (_, i) => 0xff000000 | (i * 80000)),
					back: 0xffffffff,
					line: 0xffeeeeee,
					classes: [1, 2, 3],
					counter: 4,
					counterSoft: 5,
				};
				worker.onerror = reject;
				worker.postMessage({ kind: 'canvas', canvas }, [canvas]);
				worker.postMessage({
					kind: 'sites',
					names: Array.from({ length: 200 }, (_, i) => `aten::operator_${i}`),
				});
				worker.postMessage({ kind: 'colors', colors, font: '11px sans-serif', ratio: 1 });
				worker.postMessage({
					kind: 'data',
					chunks: [{ from: 0, to: width, px: width, words, lanes: index }],
					overlap: [],
					counters: [],
				});
				const frame = n =>
					worker.postMessage({
						kind: 'frame',
						frame: {
							view: { from: n % 3, to: width + (n % 3), width },
							height: lanes * 18,
							clip: 0,
							pinned: [],
							instants: { pinned: [], rows: [] },
							bands: [],
							groupPx: 0,
							rows: Array.from({ length: lanes }, (_, lane) => ({
								lane,
								y: lane * 18,
								height: 16,
							})),
						},
					});
				worker.onmessage = ({ data }) => {
					times.push(data.ms);
					if (times.length === 40) resolve(times.slice(10));
					else frame(times.length);
				};
				frame(0);
			}),
	);
	put('drawing 20,000 boxes, median', 'ms', at(times, 0.5), 16);
	put('drawing 20,000 boxes, p95', 'ms', at(times, 0.95), 16);
}

async function roundTrips(page, n) {
	const times = await page.evaluate(
		async ([n, passes]) => {
			const { store, loader } = window.sondeScene,
				end = store.end.value,
				wish = loader.wish,
				best = new Array(n).fill(Infinity);
			let seed = 88172645;
			const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
			const views = Array.from({ length: n }, () => {
				const span = Math.max(1000, Math.round(end / 2 ** (17 * random()))),
					from = Math.round(random() * (end - span));
				return { from, to: from + span, px: wish.width };
			});
			for (let pass = 0; pass < passes; pass++)
				for (let i = 0; i < n; i++) {
					const start = performance.now();
					await loader.range(wish, views[i], wish.lanes, wish.instants, new AbortController().signal);
					best[i] = Math.min(best[i], performance.now() - start);
				}
			return best;
		},
		[n, 3],
	);
	put('a view, asked, sent and decoded, p50', 'ms', at(times, 0.5), 50);
	put('a view, asked, sent and decoded, p95', 'ms', at(times, 0.95), 50);
}

(async () => {
	const server = await serve(sonde, [file]);
	const browser = await launch();

	try {
		const { page } = await open(browser, server, { viewport: { width: 2120, height: 1300 } }, '#s=1&v=timeline');
		await size(page, server);
		await page.waitForFunction(
			() => window.sondeScene && window.sondeScene.loader.chunks.length > 0,
			null,
			{ timeout: 120000 },
		);
		await settled(page);
		await roundTrips(page, Number(wanted));
		await drawing(page);
		await firstPaint(browser, server);
		const rows = results.map(
			one => ' ' + JSON.stringify(one).replaceAll(/":/g, '": ').replaceAll(',"', ', "'),
		);
		fs.writeFileSync(output, `{"program": "view_page", "results": [\n${rows.join(',\n')}\n]}\n`);
		console.log('| what | value | goal |\n|---|---|---|');
		for (const one of results)
			console.log(`| ${one.case}, ${one.unit} | ${one.best.toPrecision(3)} | <= ${one.goal} |`);
	} finally {
		await browser.close();
		await server.stop();
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
