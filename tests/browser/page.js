// The page of sonde serve in Chromium, on real traces.
//
//   node page.js SONDE DIRECTORY       with own.sonde, cpu.json, empty.json, hostile.json, and torch.json.gz where there is one
'use strict';
const fs = require('fs');
const path = require('path');
const { assert, assertQuiet, go, launch, open, serve, settled } = require('./lib');

const [sonde, directory] = process.argv.slice(2);
const FILES = ['own.sonde', 'cpu.json', 'empty.json', 'hostile.json', 'torch.json.gz', 'ranks.sonde'].filter(name => fs.existsSync(path.join(directory, name)));
const idOf = name => FILES.indexOf(name) + 1;
const TABS = ['overview', 'timeline', 'flame', 'kernels', 'memory', 'bottlenecks', 'hta', 'compare', 'layers', 'distributed', 'gpu', 'compile', 'sql'];
const scene = (page, expression) => page.evaluate(`(() => { const scene = window.sondeScene; return ${expression}; })()`);

// Every tab of every trace says something and nothing goes wrong.
async function everyTab(browser, server) {
	for (const name of FILES) {
		const { page, seen, context } = await open(browser, server);

		for (const tab of TABS) {
			await go(page, server, `s=${idOf(name)}&v=${tab}`);
			const text = (await page.textContent('main')).trim();
			assert.ok(text.length > 20, `${name} ${tab}: "${text}"`);
			assert.ok(!/undefined|NaN|\[object/.test(text), `${name} ${tab}: ${/.{30}(undefined|NaN|\[object).{30}/.exec(text)}`);
			assert.strictEqual(await page.getAttribute(`#tab-${tab}`, 'aria-selected'), 'true');
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} ${tab} is too wide`);
			const failed = await page.$('.error-view');
			assert.strictEqual(failed && await failed.textContent(), null, `${name} ${tab}`);
			assertQuiet(seen, `${name} ${tab}`);
		}
		await context.close();
	}
}

async function keyboard(browser, server) {
	const { page, seen, context } = await open(browser, server);

	for (let i = 0; i < 9; i++) {
		await page.keyboard.press(String(i + 1));
		assert.strictEqual(await page.getAttribute(`#tab-${TABS[i]}`, 'aria-selected'), 'true');
		await settled(page);
	}
	await page.focus('[role=tab][aria-selected=true]');
	await page.keyboard.press('ArrowRight');
	assert.strictEqual(await page.getAttribute('#tab-distributed', 'aria-selected'), 'true');
	await page.keyboard.press('?');
	await page.waitForSelector('[role=dialog]');
	await page.keyboard.press('Escape');
	assert.strictEqual(await page.$('[role=dialog]'), null);
	await page.keyboard.press('/');
	assert.strictEqual(await page.evaluate(() => document.activeElement.id), 'search');
	await page.keyboard.type('5');
	assert.strictEqual(await page.inputValue('#search'), '5');
	assert.strictEqual(await page.getAttribute('#tab-distributed', 'aria-selected'), 'true', 'keys belong to the box that has the focus');
	// Everything that can be clicked can be reached: a walk with Tab comes past each and round again.
	await page.keyboard.press('Escape');
	await page.keyboard.press('1');
	await settled(page);
	const reached = new Set();
	for (let i = 0; i < 80; i++) {
		await page.keyboard.press('Tab');
		reached.add(await page.evaluate(() => document.activeElement.tagName + (document.activeElement.id || document.activeElement.textContent.slice(0, 20))));
	}
	assert.ok(reached.size >= 8, [...reached].join(' | '));
	assertQuiet(seen, 'keyboard');
	await context.close();
}

// A box of the timeline that holds one slice: where it is on the screen, and its number.
async function box(page, wish = () => true) {
	const list = await page.evaluate(() => {
		const { store, loader, span, ratio } = window.sondeScene, found = [];
		const stage = document.querySelector('.stage').getBoundingClientRect();
		const layout = store.layout.value;
		for (const row of layout.rows)
			row.lanes.forEach((lane, i) => {
				for (const chunk of loader.chunks.slice(0, 1)) {
					const head = chunk.lanes.get(lane.lane);
					for (let r = 0; head && r < head.n; r++) {
						const w = (head.at + r) * 4, word = chunk.words[w], perPixel = (chunk.to - chunk.from) / chunk.px;
						const x = ((chunk.from + ((word & 0xffff) + (word >>> 16) / 2) * perPixel) - span.from) / (span.to - span.from) * span.width / ratio;
						const y = row.y + layout.pinnedHeight - window.sondeScene.scroll + i * 18 + 8;
						if ((chunk.words[w + 2] & 0xffffff) === 1 && x > 0 && x < stage.width && y > layout.pinnedHeight && y < stage.height)
							found.push({ x: stage.x + x, y: stage.y + y, width: word >>> 16, slice: lane.first_slice + chunk.words[w + 3], name: store.sites.value[chunk.words[w + 1]].name, kind: store.sites.value[chunk.words[w + 1]].class });
					}
				}
			});
		return found;
	});
	return list.filter(wish).sort((a, b) => b.width - a.width)[0];
}

async function timeline(browser, server) {
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${idOf('own.sonde')}&v=timeline`);
	await page.waitForFunction(() => window.sondeScene.nFrames > 0 && window.sondeScene.loader.chunks.length > 0);
	const whole = await scene(page, 'scene.store.view.value');
	// Zoom at the pointer keeps what is under it; pan moves; 0 shows everything.
	await page.mouse.move(740, 400);
	const under = await scene(page, `scene.nsAt(740 - document.querySelector('.stage').getBoundingClientRect().x)`);
	for (let i = 0; i < 4; i++)
		await page.keyboard.press('w');
	const near = await scene(page, 'scene.store.view.value');
	assert.ok(near.to - near.from < (whole.to - whole.from) / 3);
	assert.ok(Math.abs(await scene(page, `scene.nsAt(740 - document.querySelector('.stage').getBoundingClientRect().x)`) - under) <= (near.to - near.from) / 100);
	await page.keyboard.press('d');
	assert.ok((await scene(page, 'scene.store.view.value')).from > near.from);
	await page.keyboard.down('Control');
	await page.mouse.wheel(0, 400);
	await page.keyboard.up('Control');
	assert.ok(await scene(page, 'scene.store.view.value.to - scene.store.view.value.from') > near.to - near.from);
	await page.keyboard.press('0');
	assert.deepStrictEqual(await scene(page, 'scene.store.view.value'), whole);

	// A click shows a slice, its details and its way out; the address holds it.
	await settled(page);
	const one = await box(page);
	assert.ok(one, 'there is a box with one slice');
	await page.mouse.click(one.x, one.y);
	await page.waitForSelector('.details');
	assert.strictEqual(await page.textContent('.details h2 span:last-child'), one.name);
	assert.ok(page.url().includes(`sel=${one.slice}`));
	await page.keyboard.press('f');
	await page.waitForTimeout(400);
	const fitted = await scene(page, 'scene.store.view.value');
	const slice = await scene(page, 'scene.store.selection.value');
	assert.ok(fitted.from <= slice.start_ns && fitted.to >= slice.start_ns + slice.dur_ns && fitted.to - fitted.from <= 2 * slice.dur_ns + 40);
	await page.reload();
	await page.waitForSelector('.details');
	assert.strictEqual(await page.textContent('.details h2 span:last-child'), one.name, 'a reload shows the same');
	assert.deepStrictEqual(await scene(page, 'scene.store.view.value'), fitted);
	// To the next of the same name, and out.
	await page.waitForTimeout(300);
	if (await scene(page, 'scene.store.selection.value.depth') > 0) {
		await page.focus('.stage');
		await page.keyboard.press('ArrowUp');
		await page.waitForFunction(depth => window.sondeScene.store.selection.value.depth === depth - 1, slice.depth);
	}
	await page.keyboard.press('Escape');
	await page.waitForSelector('.details', { state: 'detached' });

	// Dragging sums a range up.
	await page.keyboard.press('0');
	await settled(page);
	await page.mouse.move(400, 420);
	await page.mouse.down();
	await page.mouse.move(900, 430, { steps: 4 });
	await page.mouse.up();
	await page.waitForSelector('.range tbody tr');
	const sums = await page.$$eval('.range tbody tr', rows => rows.length);
	assert.ok(sums > 0);
	await page.click('text=by track');
	await page.waitForFunction(() => document.querySelector('.range h2 ~ *') !== null);
	await page.keyboard.press('Escape');

	// Folding and pinning.
	await page.click('.label.track .fold >> nth=0').catch(() => undefined);
	await page.hover('.label.track >> nth=0');
	await page.click('.label.track .pin >> nth=0');
	await page.waitForSelector('.pinned-labels .label');
	assert.ok(page.url().includes('pin='));
	assertQuiet(seen, 'timeline');
	await context.close();
}

async function search(browser, server) {
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${idOf('own.sonde')}&v=timeline`);
	await page.waitForFunction(() => window.sondeScene.loader.chunks.length > 0);
	const one = await box(page);
	await page.keyboard.press('/');
	await page.keyboard.type(one.name.slice(0, 40));
	await page.waitForSelector('.found');
	assert.match(await page.textContent('.found'), /slices? of/);
	await page.keyboard.press('Enter');
	await page.waitForSelector('.details');
	const first = await scene(page, 'scene.store.selection.value');
	assert.ok(first.name.toLowerCase().includes(one.name.slice(0, 40).toLowerCase()));
	await page.keyboard.press('Enter');
	await page.waitForTimeout(500);
	const second = await scene(page, 'scene.store.selection.value');
	assert.ok(second.start_ns >= first.start_ns);
	if (second.id !== first.id) {
		await page.keyboard.press('Shift+Enter');
		await page.waitForFunction(id => window.sondeScene.store.selection.value.id === id, first.id);
	}
	await page.fill('#search', 'no such name anywhere');
	await page.waitForFunction(() => document.querySelector('.found')?.textContent.includes('No name has this'));
	assertQuiet(seen, 'search');
	await context.close();
}

// From a kernel to the call that launched it, and back.
async function flows(browser, server) {
	if (!idOf('torch.json.gz'))
		return;
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${idOf('torch.json.gz')}&v=sql`);
	await page.fill('textarea', "select id from kernels where name like '%gemm%' limit 1");
	await page.keyboard.press('Control+Enter');
	await page.waitForSelector('main tbody tr');
	await page.click('main tbody tr');
	await page.waitForSelector('.details .links');
	const kernel = await scene(page, 'scene.store.selection.value');
	const launch = kernel.flows.find(flow => flow.kind === 'launch');
	assert.strictEqual(kernel.class, 'kernel');
	assert.ok(launch && launch.dir === 'in' && launch.slice.start_ns <= kernel.start_ns, JSON.stringify(kernel.flows));
	await page.click('.details .slice-link');
	await page.waitForFunction(id => window.sondeScene.store.selection.value.id === id, launch.slice.id);
	const host = await scene(page, 'scene.store.selection.value');
	assert.ok(host.flows.some(flow => flow.dir === 'out' && flow.slice.id === kernel.id));
	assertQuiet(seen, 'flows');
	await context.close();
}

async function notes(browser, server) {
	const { page, seen, context } = await open(browser, server);
	const text = '<img src=x onerror="window.pwned = 1"> slow here';

	await go(page, server, `s=${idOf('own.sonde')}&v=timeline&range=1000..2000`);
	await page.waitForSelector('.range');
	await page.keyboard.press('m');
	await page.fill('.note-editor input', text);
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => window.sondeScene.store.notes.value.length > 0);
	await go(page, server, `s=${idOf('own.sonde')}&v=overview`);
	await page.reload();
	await go(page, server, `s=${idOf('own.sonde')}&v=timeline`);
	await page.waitForSelector('.note-list');
	assert.ok((await page.textContent('.note-list')).includes(text));
	await page.click('.note-list .link');
	await page.waitForFunction(() => location.hash.includes('range=1000..2000'));
	assert.strictEqual(await page.evaluate(() => window.pwned), undefined);
	assertQuiet(seen, 'notes');
	await context.close();
}

async function tables(browser, server) {
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${idOf('own.sonde')}&v=sql`);
	await page.fill('textarea', 'select id, name, dur from slices limit 2000');
	await page.keyboard.press('Control+Enter');
	await page.waitForSelector('main tbody tr');
	assert.ok(await page.$$eval('main tbody tr', rows => rows.length) < 200, 'only rows in sight are in the page');
	await page.click('main th >> nth=2 >> button');
	const times = await page.$$eval('main tbody tr:not(.space)', rows => rows.slice(0, 5).map(row => row.cells[2].textContent));
	assert.strictEqual(await page.getAttribute('main th >> nth=2', 'aria-sort'), 'descending', times.join());
	await page.click('main .table-tools button');
	await page.waitForSelector('.toast');
	const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split('\r\n');
	assert.strictEqual(lines[0], 'id,name,dur');
	const durs = lines.slice(1).map(line => Number(line.split(',').at(-1)));
	assert.ok(durs.every((dur, i) => i === 0 || dur <= durs[i - 1]), 'the copy has the order of the table');
	await page.focus('main tbody tr');
	await page.keyboard.press('ArrowDown');
	assert.strictEqual(await page.evaluate(() => document.activeElement.getAttribute('aria-rowindex')), '3');
	await page.fill('textarea', 'delete from slices');
	await page.keyboard.press('Control+Enter');
	await page.waitForSelector('.sql-error');
	assert.ok((await page.textContent('.sql-error')).length > 10);
	seen.errors = seen.errors.filter(text => !/status of 4\d\d.*\/sql/.test(text)); // the refusal itself
	assertQuiet(seen, 'tables');
	await context.close();
}

async function compare(browser, server) {
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${idOf('own.sonde')}&v=compare`);
	await page.click('main button:has-text("cpu.json")');
	await page.waitForSelector('main table');
	assert.ok((await page.textContent('main')).includes('cpu.json'));
	await go(page, server, `s=${idOf('own.sonde')}&v=flame&with=${idOf('cpu.json')}`);
	await page.waitForSelector('.flame canvas');
	assert.ok((await page.textContent('.flame-line')).includes('compared with'));
	assertQuiet(seen, 'compare');
	await context.close();
}

async function flame(browser, server) {
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${idOf('own.sonde')}&v=flame`);
	await page.waitForSelector('.flame canvas');
	const canvas = await (await page.$('.flame canvas')).boundingBox();
	await page.mouse.click(canvas.x + 10, canvas.y + 27);
	await page.waitForFunction(() => location.hash.includes('zoom='));
	await page.keyboard.press('Escape');
	await page.focus('.flame');
	await page.keyboard.press('ArrowDown');
	for (const mode of ['time order', 'sandwich']) {
		await page.click(`button:has-text("${mode}")`);
		await settled(page);
	}
	await page.click('main tbody tr');
	await page.waitForFunction(() => document.querySelectorAll('.flame canvas').length === 2);
	assertQuiet(seen, 'flame');
	await context.close();
}

// Names of the trace are text wherever they stand.
async function hostile(browser, server) {
	const { page, seen, context } = await open(browser, server);

	for (const tab of TABS)
		await go(page, server, `s=${idOf('hostile.json')}&v=${tab}&q=%3Cscript%3E`);
	await go(page, server, `s=${idOf('hostile.json')}&v=timeline&sel=0`);
	await page.waitForSelector('.details');
	await page.mouse.move(600, 250);
	await page.waitForTimeout(300);
	assert.strictEqual(await page.evaluate(() => window.pwned), undefined);
	assert.strictEqual(await page.$$eval('iframe, img, object, embed, base, form[action], a[href^="javascript"], [onerror], [onload], [onmouseover]', all => all.length), 0);
	assert.strictEqual(await page.$$eval('script', all => all.length), 1);
	assertQuiet(seen, 'hostile');
	await context.close();
}

function luminance(color) {
	const parts = color.match(/[\d.]+/g).slice(0, 3).map(part => part / 255).map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
	return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}

// Text has a contrast of 4.5 to 1 in both themes; the page fits 1280 and 2560 px; controls have names.
async function looks(browser, server) {
	for (const colorScheme of ['light', 'dark'])
		for (const width of [1280, 2560]) {
			const { page, seen, context } = await open(browser, server, { colorScheme, viewport: { width, height: 1000 } });

			for (const tab of ['overview', 'timeline', 'bottlenecks', 'flame']) {
				await go(page, server, `s=${idOf('own.sonde')}&v=${tab}`);
				const pairs = await page.evaluate(() => [...document.querySelectorAll('body *')]
					.filter(node => node.offsetParent && !node.closest('.hidden-text, [disabled], .empty') && [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim()))
					.map(node => {
						let back = node;
						while (back && /, 0\)|color\(/.test(getComputedStyle(back).backgroundColor))
							back = back.parentElement;
						return [getComputedStyle(node).color, back ? getComputedStyle(back).backgroundColor : 'rgb(255, 255, 255)', node.textContent.slice(0, 40)];
					}));
				for (const [front, back, text] of pairs) {
					const levels = [luminance(front), luminance(back)].sort((a, b) => b - a);
					assert.ok((levels[0] + 0.05) / (levels[1] + 0.05) >= 4.5, `${colorScheme} ${tab}: "${text}": ${front} on ${back}`);
				}
				const nameless = await page.$$eval('button, input, select, textarea, [role=img], [role=application]', all => all.filter(node => node.offsetParent
					&& !(node.textContent.trim() || node.getAttribute('aria-label') || node.title || node.closest('label'))).map(node => node.outerHTML));
				assert.deepStrictEqual(nameless, []);
				assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
			}
			assertQuiet(seen, 'looks');
			await context.close();
		}
}

async function theme(browser, server) {
	const { page, context } = await open(browser, server, { colorScheme: 'dark' });
	const now = () => page.evaluate(() => document.documentElement.dataset.theme);

	assert.strictEqual(await now(), 'dark');
	await page.click('button[aria-label^=Theme]');
	assert.strictEqual(await now(), 'light');
	await page.reload();
	assert.strictEqual(await now(), 'light', 'the choice is kept');
	await context.close();
}

(async () => {
	const server = await serve(sonde, FILES.map(name => path.join(directory, name)));
	const browser = await launch();
	const only = process.env.ONLY ? process.env.ONLY.split(',') : null;

	try {
		for (const test of [everyTab, keyboard, timeline, search, flows, notes, tables, compare, flame, hostile, looks, theme])
			if (!only || only.includes(test.name)) {
				const start = Date.now();
				await test(browser, server);
				console.log(`${test.name}: ${((Date.now() - start) / 1000).toFixed(1)} s`);
			}
	} finally {
		await browser.close();
		await server.stop();
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
