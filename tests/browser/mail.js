// Opens flame.html and timeline.html from disk in Chromium: what they show, what the reader can do, that nothing in them
// runs and nothing is asked for.
//
//   node mail.js DIRECTORY      leaves screenshots there
'use strict';
const assert = require('assert');
const { chromium } = require('playwright-core');

const directory = process.argv[2];

async function open(browser, name, scheme) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: scheme });
	const page = await context.newPage();
	const seen = { requests: [], errors: [] };

	page.on('request', request => request.url().startsWith('blob:') || seen.requests.push(request.url()));
	page.on('pageerror', error => seen.errors.push(error.message));
	page.on('console', message => message.type() === 'error' && seen.errors.push(message.text()));
	page.on('dialog', dialog => seen.errors.push('dialog: ' + dialog.message()));
	await page.addInitScript(() => addEventListener('securitypolicyviolation', event => console.error('CSP: ' + event.violatedDirective)));
	await page.goto(`file://${directory}/${name}.html`);
	return { page, seen };
}

async function assertQuiet(page, seen, name) {
	assert.deepStrictEqual(seen.requests, [`file://${directory}/${name}.html`]);
	assert.deepStrictEqual(seen.errors, []);
	assert.strictEqual(await page.evaluate(() => window.pwned), undefined);
	await page.screenshot({ path: `${directory}/${name}.png` });
}

// Colours of a canvas, a sample of them: more than a few mean that it is painted.
const colours = (page, selector) => page.$eval(selector, canvas => {
	const copy = new OffscreenCanvas(canvas.width, canvas.height), context = copy.getContext('2d');
	context.drawImage(canvas, 0, 0);
	const { data } = context.getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
	for (let i = 0; i < data.length; i += 4 * 61)
		seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
	return seen.size;
});

async function flame(browser) {
	const { page, seen } = await open(browser, 'flame', 'light');

	await page.waitForSelector('.flame canvas');
	assert.match(await page.textContent('.flame-line'), /^18\.0 ms in \d+ frames\.$/);
	await page.waitForFunction(() => document.querySelector('.flame canvas').height > 1);
	assert.ok(await colours(page, '.flame canvas') > 3);
	await page.click('text=time order');
	await page.waitForFunction(() => location.hash.includes('mode=ordered'));
	await page.click('text=sandwich');
	await page.waitForSelector('text=Choose a name');
	await page.click('td:has-text("op3")');
	await page.waitForSelector('h3:has-text("Callers")');
	await page.click('text=device time');
	await page.waitForSelector('text=This file has time only.');
	await assertQuiet(page, seen, 'flame');
}

async function timeline(browser) {
	const { page, seen } = await open(browser, 'timeline', 'dark');

	await page.waitForFunction(() => [...document.querySelectorAll('canvas')].length > 1);
	await page.waitForTimeout(700);
	assert.match(await page.textContent('#note'), /^1,006 of 1,006 slices\./);
	await page.fill('#search', 'op3');
	await page.press('#search', 'Enter');
	await page.waitForFunction(() => document.body.innerText.includes('(8,000 ns)'));
	await page.waitForFunction(() => /sel=\d+/.test(location.hash));
	// Its arguments, its arrow, and back.
	assert.match(await page.textContent('.details .args'), /Input Dims\[\[3,2\]\].*onerror/);
	await page.click('.links button:has-text("op6")');
	await page.waitForFunction(() => document.querySelector('.details h2').textContent === 'op6');
	await page.waitForSelector('.links :text("next from")');
	// Instants and counters.
	assert.ok(await page.evaluate(() => window.sondeScene.store.layout.value.rows.some(row => row.counter)));
	await page.evaluate(() => (location.hash += '&sel=i0'));
	await page.waitForFunction(() => document.querySelector('.details .args')?.textContent === 'lr0.1');
	assert.ok((await page.textContent('.details h2')).includes('onerror'));
	await assertQuiet(page, seen, 'timeline');
}

// A page of some steps begins with them.
async function steps(browser) {
	const { page, seen } = await open(browser, 'steps', 'light');

	await page.waitForFunction(() => window.sondeScene?.loader.chunks.length > 0);
	assert.deepStrictEqual(await page.evaluate(() => window.sondeScene.store.view.value), { from: 200000, to: 390000 });
	assert.match(await page.textContent('#note'), /^2 of 5 slices\. 3 are outside the steps\./);
	await assertQuiet(page, seen, 'steps');
}

(async () => {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
	for (const part of [flame, timeline, steps])
		await part(browser);
	await browser.close();
})().catch(error => {
	console.error(error);
	process.exit(1);
});
