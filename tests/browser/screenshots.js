// Takes the pictures of tools/screenshots.sh.
//
//   node screenshots.js SONDE TRACES TO [WIDTH HEIGHT]
'use strict';
const path = require('path');
const { launch, open, serve, settled } = require('./lib');

const [sonde, traces, to, width = '1280', height = '800'] = process.argv.slice(2);
const FILES = ['resnet50.json.gz', 'resnet50-4-workers.json.gz', 'vit.json.gz', 'dlrm.sonde', 'compiled.json.gz'];
const SHOTS = {
	overview: 's=1&v=overview',
	timeline: 's=1&v=timeline&from=100000000&to=310000000',
	'timeline-slice': 's=3&v=timeline&q=cudaLaunchKernel',
	flame: 's=1&v=flame',
	kernels: 's=1&v=kernels',
	memory: 's=1&v=memory',
	bottlenecks: 's=1&v=bottlenecks',
	hta: 's=1&v=hta',
	compare: 's=1&v=compare&with=2',
	layers: 's=3&v=layers',
	distributed: 's=4&v=distributed',
	gpu: 's=1&v=gpu',
	compile: 's=5&v=compile',
	sql: 's=1&v=sql',
};

// What a reader would do before the picture is worth taking.
const DO = {
	async 'timeline-slice'(page) {
		await page.focus('#search');
		await page.keyboard.press('Enter');
		await page.waitForSelector('.details');
		await page.evaluate(() => document.activeElement.blur());
		await page.keyboard.press('f');
		for (let i = 0; i < 5; i++) await page.keyboard.press('s');
		await settled(page);
		await page.waitForTimeout(500);
	},
	async sql(page) {
		await page.click('button:has-text("time by name")');
		await page.waitForSelector('main tbody tr');
	},
};

(async () => {
	const server = await serve(
		sonde,
		FILES.map(name => path.join(traces, name)),
	);
	const browser = await launch();

	try {
		for (const colorScheme of ['light', 'dark']) {
			const { page } = await open(browser, server, {
				colorScheme,
				viewport: { width: Number(width), height: Number(height) },
			});
			for (const [name, hash] of Object.entries(SHOTS)) {
				await page.goto(`${server.base}/#${hash}`);
				await page.reload();
				await page.waitForSelector('[role=tab]');
				await settled(page);
				await DO[name]?.(page);
				await page.mouse.move(1, 1);
				await page.waitForTimeout(400);
				await page.screenshot({ path: path.join(to, `${name}-${colorScheme}.png`) });
			}
		}
	} finally {
		await browser.close();
		await server.stop();
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
