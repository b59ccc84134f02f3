// The page of sonde serve in Chromium, on real traces.
//
//   node page.js SONDE DIRECTORY     the traces are those of lib.sh; ONLY=test,test runs some
'use strict';
const { assert, assertQuiet, go, open, settled, runTests } = require('./lib');
const timeline = require('./page_timeline');

const TABS = [
	'overview',
	'timeline',
	'flame',
	'kernels',
	'memory',
	'bottlenecks',
	'hta',
	'compare',
	'layers',
	'distributed',
	'gpu',
	'compile',
	'sql',
];

// Every tab of every trace says something and nothing goes wrong.
async function everyTab(browser, server) {
	for (const name of server.files) {
		const { page, seen, context } = await open(browser, server);

		for (const tab of TABS) {
			await go(page, server, `s=${server.idOf(name)}&v=${tab}`);
			const text = (await page.textContent('main')).trim();
			assert.ok(text.length > 20, `${name} ${tab}: "${text}"`);
			assert.ok(
				!/undefined|NaN|\[object/.test(text),
				`${name} ${tab}: ${/.{30}(undefined|NaN|\[object).{30}/.exec(text)}`,
			);
			assert.strictEqual(await page.getAttribute(`#tab-${tab}`, 'aria-selected'), 'true');
			assert.ok(
				await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
				`${name} ${tab} is too wide`,
			);
			const failed = await page.$('.error-view');
			assert.strictEqual(failed && (await failed.textContent()), null, `${name} ${tab}`);
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
	assert.strictEqual(
		await page.getAttribute('#tab-distributed', 'aria-selected'),
		'true',
		'keys belong to the box that has the focus',
	);
	// Everything that can be clicked can be reached: a walk with Tab comes past each and round again.
	await page.keyboard.press('Escape');
	await page.keyboard.press('1');
	await settled(page);
	const reached = new Set();
	for (let i = 0; i < 80; i++) {
		await page.keyboard.press('Tab');
		reached.add(
			await page.evaluate(
				() =>
					document.activeElement.tagName +
					(document.activeElement.id || document.activeElement.textContent.slice(0, 20)),
			),
		);
	}
	assert.ok(reached.size >= 8, [...reached].join(' | '));
	assertQuiet(seen, 'keyboard');
	await context.close();
}

async function tables(browser, server) {
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${server.idOf('own.sonde')}&v=sql`);
	await page.fill('textarea', 'select id, name, dur from slices limit 2000');
	await page.keyboard.press('Control+Enter');
	await page.waitForSelector('main tbody tr');
	assert.ok(
		(await page.$$eval('main tbody tr', rows => rows.length)) < 200,
		'only rows in sight are in the page',
	);
	await page.click('main th >> nth=2 >> button');
	const times = await page.$$eval('main tbody tr:not(.space)', rows =>
		rows.slice(0, 5).map(row => row.cells[2].textContent),
	);
	assert.strictEqual(await page.getAttribute('main th >> nth=2', 'aria-sort'), 'descending', times.join());
	await page.click('main .table-tools button');
	await page.waitForSelector('.toast');
	const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split('\r\n');
	assert.strictEqual(lines[0], 'id,name,dur');
	const durs = lines.slice(1).map(line => Number(line.split(',').at(-1)));
	assert.ok(
		durs.every((dur, i) => i === 0 || dur <= durs[i - 1]),
		'the copy has the order of the table',
	);
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

	await go(page, server, `s=${server.idOf('own.sonde')}&v=compare`);
	await page.click('main button:has-text("cpu.json")');
	await page.waitForSelector('main table');
	assert.ok((await page.textContent('main')).includes('cpu.json'));
	await go(page, server, `s=${server.idOf('own.sonde')}&v=flame&with=${server.idOf('cpu.json')}`);
	await page.waitForSelector('.flame canvas');
	assert.ok((await page.textContent('.flame-line')).includes('compared with'));
	assertQuiet(seen, 'compare');
	await context.close();
}

async function flame(browser, server) {
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${server.idOf('own.sonde')}&v=flame`);
	await page.waitForSelector('.flame canvas');
	const canvas = await (await page.$('.flame canvas')).boundingBox();
	await page.mouse.click(canvas.x + 10, canvas.y + 27);
	await page.waitForFunction(() => location.hash.includes('zoom='));
	await page.keyboard.press('Escape');
	await page.focus('.flame');
	await page.keyboard.press('ArrowDown');
	// In the order of time short ones are left out of the picture, but not of the sums.
	const sums = () => page.$$eval('main tbody tr', rows => rows.slice(0, 5).map(row => row.textContent));
	const before = await sums();
	for (const mode of ['time order', 'sandwich']) {
		await page.click(`button:has-text("${mode}")`);
		await settled(page);
		assert.deepStrictEqual(await sums(), before, mode);
	}
	await page.click('main tbody tr');
	await page.waitForFunction(() => document.querySelectorAll('.flame canvas').length === 2);
	assertQuiet(seen, 'flame');
	await context.close();
}

// Names of the trace are text wherever they stand.
async function hostile(browser, server) {
	const { page, seen, context } = await open(browser, server);

	for (const tab of TABS) await go(page, server, `s=${server.idOf('hostile.json')}&v=${tab}&q=%3Cscript%3E`);
	await go(page, server, `s=${server.idOf('hostile.json')}&v=timeline&sel=0`);
	await page.waitForSelector('.details');
	await page.mouse.move(600, 250);
	await page.waitForTimeout(300);
	assert.strictEqual(await page.evaluate(() => window.pwned), undefined);
	assert.strictEqual(
		await page.$$eval(
			'iframe, img, object, embed, base, form[action], a[href^="javascript"], [onerror], [onload], [onmouseover]',
			all => all.length,
		),
		0,
	);
	assert.strictEqual(await page.$$eval('script', all => all.length), 1);
	assertQuiet(seen, 'hostile');
	await context.close();
}

function luminance(color) {
	const parts = color
		.match(/[\d.]+/g)
		.slice(0, 3)
		.map(part => part / 255)
		.map(part => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
	return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}

// Text has a contrast of 4.5 to 1 in both themes; the page fits 1280 and 2560 px; controls have names.
async function looks(browser, server) {
	for (const colorScheme of ['light', 'dark'])
		for (const width of [1280, 2560]) {
			const { page, seen, context } = await open(browser, server, {
				colorScheme,
				viewport: { width, height: 1000 },
			});

			for (const tab of ['overview', 'timeline', 'bottlenecks', 'flame']) {
				await go(page, server, `s=${server.idOf('own.sonde')}&v=${tab}`);
				const pairs = await page.evaluate(() =>
					[...document.querySelectorAll('body *')]
						.filter(
							node =>
								node.offsetParent &&
								!node.closest('.hidden-text, [disabled]') &&
								[...node.childNodes].some(
									child =>
										child.nodeType === 3 &&
										child.data.trim(),
								),
						)
						.map(node => {
							let back = node;
							while (
								back &&
								/, 0\)|color\(/.test(
									getComputedStyle(back).backgroundColor,
								)
							)
								back = back.parentElement;
							return [
								getComputedStyle(node).color,
								back
									? getComputedStyle(back).backgroundColor
									: 'rgb(255, 255, 255)',
								node.textContent.slice(0, 40),
							];
						}),
				);
				for (const [front, back, text] of pairs) {
					const levels = [luminance(front), luminance(back)].sort((a, b) => b - a);
					assert.ok(
						(levels[0] + 0.05) / (levels[1] + 0.05) >= 4.5,
						`${colorScheme} ${tab}: "${text}": ${front} on ${back}`,
					);
				}
				const nameless = await page.$$eval(
					'button, input, select, textarea, [role=img], [role=application]',
					all =>
						all
							.filter(
								node =>
									node.offsetParent &&
									!(
										node.textContent.trim() ||
										node.getAttribute('aria-label') ||
										node.title ||
										node.closest('label')
									),
							)
							.map(node => node.outerHTML),
				);
				assert.deepStrictEqual(nameless, []);
				assert.ok(
					await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
				);
			}
			assertQuiet(seen, 'looks');
			await context.close();
		}
}

// A file that the page sends becomes a trace, and a new name stays.
async function upload(browser, server) {
	const { page, seen, context } = await open(browser, server);
	const events = [{ ph: 'X', cat: 'cpu_op', name: 'sent', pid: 1, tid: 1, ts: 0, dur: 10 }];

	await page.click('button.trace');
	await page.setInputFiles('.menu input[type=file]', {
		name: 'sent.json',
		mimeType: 'application/json',
		buffer: Buffer.from(JSON.stringify({ traceEvents: events })),
	});
	await page.waitForFunction(() => document.querySelector('button.trace').textContent.includes('sent.json'));
	await page.click('button[aria-label="Rename sent.json"]');
	await page.fill('.menu input[aria-label="New name"]', 'renamed');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => document.querySelector('button.trace').textContent.includes('renamed'));
	assertQuiet(seen, 'upload');
	await context.close();
}

// Compiled code step by step, blocks that stay, counters of a GPU; and what would fill the tabs of a trace without them.
async function analyses(browser, server) {
	const { page, seen, context } = await open(browser, server);
	const text = async (name, tab) => {
		await go(page, server, `s=${server.idOf(name)}&v=${tab}`);
		return (await page.textContent('main')).replace(/\s+/g, ' ');
	};

	const compiled = await text('compiled.json.gz', 'compile');
	assert.match(compiled, /Compiled code runs 80\.2 % of the 4 steps/);
	assert.strictEqual(await page.$$eval('#table-compile_steps .stack', all => all.length), 8, 'a bar for each step');
	for (const part of ['Torch-Compiled Region: 0/1', 'continues', 'async_compile.wait'])
		assert.ok(compiled.includes(part), `no ${part}`);
	await page.click('main tr:has-text("0/2") >> nth=0');
	await page.waitForFunction(() => location.hash.includes('v=timeline'));
	assert.match(await text('cpu.json', 'compile'), /No compiled code.*torch\.compile/);

	const leaks = await text('leaks.sonde', 'memory');
	assert.match(leaks, /Memory of cpu grows by 4\.00 KiB per step over 20 steps/);
	assert.match(leaks, /nearly all.*before them/);
	assert.ok((await page.$$('main .chart, main .uplot')).length >= 2, 'no chart of the growth');

	const gpu = await text('gpu.json', 'gpu');
	for (const part of ['Kernels run 60', 'Busy over time', 'Temperature', 'Power', 'gpu0 power (W)', '349'])
		assert.ok(gpu.includes(part), `no ${part} in ${gpu}`);
	assert.match(await text('cpu.json', 'gpu'), /No device rows.*SONDE_COUNTER/);
	assertQuiet(seen, 'analyses');
	await context.close();
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

runTests([everyTab, keyboard, ...timeline, tables, analyses, compare, flame, hostile, looks, theme, upload]);
