// A recording that is still being written: the page follows it, stays where the reader is, and says when it has ended.
//
//   node live.js SONDE PROGRAM FAST_PROGRAM DIRECTORY
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const path = require('path');
const { assert, assertQuiet, go, launch, open, serve } = require('./lib');

const [sonde, program, fast, directory] = process.argv.slice(2);
const file = path.join(directory, 'live.sonde');
const large = path.join(directory, 'large.sonde');

const waitFor = async (what, test, ms = 20000) => {
	for (const end = Date.now() + ms; Date.now() < end; await new Promise(resolve => setTimeout(resolve, 50)))
		if (await test()) return;
	throw new Error(`waited in vain for ${what}`);
};
const state = page =>
	page.evaluate(() => {
		const { store } = window.sondeScene;
		return { ...store.view.value, end: store.end.value, steps: store.steps.value.length };
	});

const follow = async () => {
	const child = spawn(sonde, ['record', '-o', file, '--', program, '2000', '10000'], { stdio: 'ignore' });
	await waitFor('the recording', () => fs.existsSync(file) && fs.statSync(file).size > 4096);
	const server = await serve(sonde, [file]);
	const browser = await launch();

	try {
		const { page, seen } = await open(browser, server);

		await go(page, server, 's=1&v=timeline');
		await page.waitForSelector('.live');
		const first = await state(page);
		await waitFor(
			'more of the run',
			async () => (await state(page)).end > first.end && (await state(page)).steps > first.steps,
		);
		const second = await state(page);
		assert.ok(second.from === 0 && second.to === second.end, 'what showed everything still does');

		// The reader looks at a place: it stays, while the trace grows.
		await page.mouse.move(600, 400);
		await page.keyboard.press('w');
		await page.keyboard.press('w');
		const place = await state(page);
		await waitFor('more of the run', async () => (await state(page)).end > place.end);
		const later = await state(page);
		assert.deepStrictEqual([later.from, later.to], [place.from, place.to]);

		// A pause holds the page; going on catches up.
		await page.click('button:has(.live)');
		await page.waitForSelector('.live.paused');
		await page.waitForTimeout(600);
		const paused = await state(page);
		await page.waitForTimeout(2500);
		assert.deepStrictEqual(await state(page), paused);
		await waitFor('the age of what is shown', async () =>
			/^paused, \d+ s ago$/.test(await page.textContent('.live')),
		);
		await page.click('button:has(.live)');
		await waitFor('the page to catch up', async () => (await state(page)).end > paused.end);

		// The end.
		process.kill(child.pid, 'SIGINT');
		await page.waitForSelector('.live', { state: 'detached', timeout: 30000 });
		await page.waitForSelector('.toast:has-text("ended")');
		assertQuiet(seen, 'live');
	} finally {
		child.kill('SIGKILL');
		await browser.close();
		await server.stop();
	}
};

// One that grows faster than it is read: the page shows its newest part and says so, and everything in the end.
const followFast = async () => {
	const stop = path.join(directory, 'stop');
	const child = spawn(sonde, ['record', '-o', large, '--', fast, '200', stop, '2', '3000'], { stdio: 'ignore' });
	const size = () =>
		fs
			.readdirSync(directory)
			.filter(name => name.startsWith('large.sonde') && !name.endsWith('.ring'))
			.reduce((sum, name) => sum + fs.statSync(path.join(directory, name)).size, 0);
	await waitFor('a large recording', () => size() > 30 << 20, 120000);
	const server = await serve(sonde, [large]);
	const browser = await launch();

	try {
		const { page, seen } = await open(browser, server);

		await go(page, server, 's=1&v=timeline');
		await page.waitForSelector('.window-note', { timeout: 60000 });
		assert.match(await page.textContent('.window-note'), /^The newest [\d.]+ \w+ of [\d.]+ \w+; older events are /);
		await waitFor('the window', async () => {
			const { from, to, end } = await state(page);
			return from > end / 2 && to === end;
		});
		fs.writeFileSync(stop, '');
		await page.waitForSelector('.window-note', { state: 'detached', timeout: 200000 });
		await waitFor('everything', async () => (await state(page)).from === 0);
		assertQuiet(seen, 'a recording that grows fast');
	} finally {
		fs.writeFileSync(stop, '');
		child.kill('SIGTERM');
		await browser.close();
		await server.stop();
	}
};

follow()
	.then(followFast)
	.catch(error => {
		console.error(error);
		process.exit(1);
	});
