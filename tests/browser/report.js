// Opens pages of reports from disk in Chromium: what they show, what the reader can do, and that nothing in them runs.
//
//   node report.js DIRECTORY      with plain.html, hostile.html and trace-*.html; leaves screenshots there
'use strict';
const assert = require('assert');
const fs = require('fs');
const { chromium } = require('playwright-core');

const directory = process.argv[2];

async function open(browser, name, options) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
	const page = await context.newPage();
	const seen = { requests: [], errors: [] };

	page.on('request', request => seen.requests.push(request.url()));
	page.on('pageerror', error => seen.errors.push(error.message));
	page.on('console', message => message.type() === 'error' && seen.errors.push(message.text()));
	page.on('dialog', dialog => seen.errors.push('dialog: ' + dialog.message()));
	await page.goto(`file://${directory}/${name}.html`);
	return { page, seen, context };
}

// Nothing was loaded but the page itself, nothing failed, nothing ran, nothing was refused.
function assertQuiet(seen, name) {
	assert.deepStrictEqual(seen.requests, [`file://${directory}/${name}.html`]);
	assert.deepStrictEqual(seen.errors, []);
}

const NAMES = '#table-names';
const column = (page, i) =>
	page.$$eval(`${NAMES} tbody tr`, (rows, n) => rows.map(row => row.cells[n].textContent), i);
const sortBy = (page, header) => page.click(`${NAMES} th button:text-is("${header}")`);

// Whether anything is painted on it.
const isPainted = canvas => {
	const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
	return canvas.width > 300 && data.some(byte => byte > 0);
};

async function findings(browser) {
	const { page, seen } = await open(browser, 'plain');

	assert.strictEqual(await page.textContent('h1'),
		'run.sonde   ./train --epochs 3   12.4 s   2 threads   200 steps (10 warm-up excluded)');
	const titles = await page.$$eval('.finding h3', all => all.map(one => one.textContent));
	assert.deepStrictEqual(titles, ['communication is not hidden behind computation', 'data loading holds up every step',
		'copies from pageable memory', 'memory grows from step to step']);
	const costs = await page.$$eval('.finding .head', all => all.map(one => one.children[2].textContent + one.children[3].textContent));
	assert.deepStrictEqual(costs, ['3.10 s25.0 %', '1.94 s15.6 %', '110 ms0.89 %', '-']);
	const widths = await page.$$eval('.lost-bar span', all => all.map(one => one.getBoundingClientRect().width));
	assert.ok(widths[0] > 100 && Math.abs(widths[1] / widths[0] - 1.94 / 3.1) < 0.01 && widths[3] === 0, String(widths));
	// There is no timeline to show it in.
	assert.strictEqual(await page.$$eval('.finding button', all => all.length), 0);
	assert.ok((await page.textContent('.finding:nth-child(2)')).includes('Evidence: steps 11-200, 4.81 s to 9.20 s, slice 1873'));
	await page.waitForSelector('#table-steps canvas');
	const charts = await page.$$('figure.chart canvas');
	assert.strictEqual(charts.length, 2);
	for (const chart of charts)
		assert.ok(await chart.evaluate(isPainted));
	assert.deepStrictEqual(await page.$$eval('#table-queue .u-legend .u-label', all => all.slice(1).map(one => one.textContent)),
		['stream 7', 'stream 8', 'stream 9']);
	assert.deepStrictEqual(await page.$$eval('nav a', all => all.map(one => one.textContent)),
		['Where the time went', 'Queue length over time', 'Steps']);
	await page.click('nav a:last-child');
	assert.ok(await page.evaluate(() => document.getElementById('table-steps').getBoundingClientRect().top < innerHeight));
	assertQuiet(seen, 'plain');
}

async function tables(browser) {
	const { page, seen, context } = await open(browser, 'plain', { permissions: ['clipboard-read', 'clipboard-write'] });

	assert.strictEqual((await column(page, 0)).length, 200);
	await sortBy(page, 'calls');
	const calls = (await column(page, 1)).map(text => Number(text.replaceAll(',', '')));
	assert.ok(calls.every((value, i) => i === 0 || value <= calls[i - 1]));
	await sortBy(page, 'calls');
	assert.strictEqual((await column(page, 1))[0], String(Math.floor(31744 / 200)));
	await sortBy(page, 'calls'); // as it was
	assert.strictEqual((await column(page, 0))[1], 'forward');
	for (let i = 0; i < 2; i++) { // what is unknown comes last, either way
		await sortBy(page, 'peak');
		assert.strictEqual((await column(page, 3)).slice(-1)[0], '-');
	}
	await sortBy(page, 'peak');
	await page.fill(`${NAMES} input`, 'nccl');
	assert.ok((await page.textContent(`${NAMES} .table-tools`)).includes('28 of 200 rows'));
	assert.strictEqual((await column(page, 0)).length, 28);
	await page.fill(`${NAMES} input`, '');
	await page.click(`${NAMES} button:text("copy as CSV")`);
	await page.waitForSelector('.toast:text("Copied 200 rows as CSV.")');
	const lines = (await page.evaluate(() => navigator.clipboard.readText())).split('\r\n');
	assert.strictEqual(lines[0], 'name,calls,total_ns,peak_bytes,hidden,percent');
	assert.strictEqual(lines[2], 'forward,15872,5900000000,2097152,1,50');
	assert.strictEqual(lines.length, 202);
	await page.focus(`${NAMES} tbody tr`);
	await page.keyboard.press('ArrowDown');
	assert.strictEqual(await page.evaluate(() => document.activeElement.cells[0].textContent), 'forward');
	const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	await page.click('header button'); // light
	await page.click('header button'); // dark
	assert.notStrictEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), before);
	assertQuiet(seen, 'plain');
	await context.close();
}

// The flame graph of a report: painted, searched, zoomed.
async function flame(browser) {
	const { page, seen, context } = await open(browser, 'trace-report');
	const canvas = await page.waitForSelector('#flame canvas');
	assert.ok(await canvas.evaluate(isPainted));
	await page.fill('#flame input', 'no such name');
	assert.ok((await page.textContent('#flame .quiet')).includes('No frame has "no such name" in its name.'));
	await page.fill('#flame input', '');
	await canvas.scrollIntoViewIfNeeded();
	const box = await canvas.boundingBox();
	await page.mouse.move(box.x + 40, box.y + 9);
	assert.ok((await page.textContent('#flame .tip')).includes('% of all'));
	await page.mouse.click(box.x + 40, box.y + 9);
	await page.click('#flame button:text("zoom out")');
	assert.strictEqual(await page.$('#flame button'), null);
	assertQuiet(seen, 'trace-report');
	await context.close();
}

// Without scripts there still are the findings, the first rows and the notes.
async function withoutScripts(browser) {
	const { page, seen, context } = await open(browser, 'plain', { javaScriptEnabled: false });

	assert.strictEqual(await page.locator('noscript li').count(), 4);
	assert.strictEqual(await page.locator('noscript table').count(), 3);
	assert.strictEqual(await page.locator('noscript table').first().locator('tbody tr').count(), 100);
	assert.ok(await page.locator('noscript p', { hasText: '100 of 200 rows' }).isVisible());
	assert.ok(await page.locator('noscript dd', { hasText: 'cpu peak 312 MiB at 4.81 s in backward' }).isVisible());
	assertQuiet(seen, 'plain');
	await page.goto(`file://${directory}/hostile.html`);
	assert.strictEqual(await page.locator('img, iframe, base, link').count(), 0);
	await context.close();
}

// Everything that can be pressed is, and names like markup are asked for.
async function press(page) {
	await page.evaluate(async () => {
		for (const node of document.querySelectorAll('th button, .table-tools button, header button, summary')) {
			node.click();
			await null;
		}
		for (const node of document.querySelectorAll('input')) {
			node.value = '<script>';
			node.dispatchEvent(new Event('input', { bubbles: true }));
		}
	});
	await page.mouse.move(640, 450);
	await page.waitForTimeout(100);
}

async function assertTame(page, name) {
	const odd = 'iframe, img, object, embed, link, base, form, a[href^="javascript"], [onerror], [onload], [onmouseover], [onfocus]';
	assert.strictEqual(await page.evaluate(() => window.pwned), undefined, name);
	assert.strictEqual(await page.$$eval(odd, all => all.length), 0, name);
	assert.strictEqual(await page.$$eval('script', all => all.length), 2, name); // and its data
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is too wide`);
}

async function hostile(browser) {
	const { page, seen } = await open(browser, 'hostile');

	await press(page);
	await assertTame(page, 'hostile');
	await page.fill('.table-view input', '');
	assert.ok((await page.textContent('.table-view tbody')).includes('<script>window.pwned = 1</script>'));
	assertQuiet(seen, 'hostile');
	// Whatever got into the page, its policy would stop it.
	await page.evaluate(() => {
		document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.pwned = 1"><p id=styled style="color: red">');
		const script = document.createElement('script');
		script.textContent = 'window.pwned = 2';
		document.body.append(script);
	});
	await page.waitForTimeout(200);
	assert.strictEqual(await page.evaluate(() => window.pwned), undefined);
	assert.ok(seen.errors.length >= 3 && seen.errors.every(text => text.includes('Content Security Policy')), String(seen.errors));
}

// Every analysis of a trace with such names, made by the command.
async function traces(browser) {
	const names = fs.readdirSync(directory).filter(name => /^trace-.*\.html$/.test(name)).map(name => name.slice(0, -5));

	assert.ok(names.length > 20, `${names.length} pages`);
	for (const name of names) {
		const { page, seen, context } = await open(browser, name);

		await press(page);
		await assertTame(page, name);
		assert.ok((await page.content()).length < 1 << 20, name);
		assertQuiet(seen, name);
		await context.close();
	}
	const { page, context } = await open(browser, 'trace-bottlenecks');
	assert.ok((await page.textContent('.findings')).includes('<script>window.pwned = 1</script>'));
	await page.goto(`file://${directory}/trace-hta.html`);
	await page.waitForFunction(() => document.querySelectorAll('figure.chart canvas').length === 2);
	assert.strictEqual(await page.$$eval('.rank-row .stack', all => all.length), 2);
	await context.close();
}

function luminance(color) {
	const parts = color.match(/[\d.]+/g).slice(0, 3).map(part => part / 255)
		.map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
	return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}

// Every text that stands on a plain background has a contrast of 4.5 to 1 with it, in light, in dark and on paper.
async function looks(browser) {
	for (const look of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, { media: 'print', colorScheme: 'dark' }]) {
		const { page, context } = await open(browser, 'plain', { colorScheme: look.colorScheme });
		await page.emulateMedia({ media: look.media || 'screen', colorScheme: look.colorScheme });
		if (look.media)
			await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
		const pairs = await page.evaluate(() => [...document.querySelectorAll('body *')]
			.filter(node => node.offsetParent && [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim()))
			.map(node => {
				let back = node;
				while (back && /, 0\)|color\(/.test(getComputedStyle(back).backgroundColor))
					back = back.parentElement;
				return [getComputedStyle(node).color, back ? getComputedStyle(back).backgroundColor : 'rgb(255, 255, 255)',
					node.textContent.slice(0, 40)];
			}));
		assert.ok(pairs.length > 50);
		for (const [front, back, text] of pairs) {
			const levels = [luminance(front), luminance(back)].sort((a, b) => b - a);
			assert.ok((levels[0] + 0.05) / (levels[1] + 0.05) >= 4.5, `${text}: ${front} on ${back}`);
		}
		await page.screenshot({ path: `${directory}/${look.media || look.colorScheme}.png` });
		if (!look.media) {
			await context.close();
			continue;
		}
		await page.setViewportSize({ width: 700, height: 990 }); // a sheet: nothing sticks out of it
		for (const name of ['plain', 'trace-report', 'trace-hta', 'trace-bottlenecks', 'trace-operators']) {
			await page.goto(`file://${directory}/${name}.html`);
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is too wide`);
			assert.ok((await page.pdf({ format: 'A4' })).length > 10000);
		}
		await context.close();
	}
}

(async () => {
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
		args: process.getuid() === 0 ? ['--no-sandbox'] : [],
	});

	try {
		for (const test of [findings, tables, flame, withoutScripts, hostile, traces, looks])
			await test(browser);
	} finally {
		await browser.close();
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
