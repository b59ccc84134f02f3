// The timeline: moving, selecting, searching, links, notes. Part of page.js.
'use strict';
const { assert, assertQuiet, go, open, settled } = require('./lib');

const scene = (page, expression) =>
	page.evaluate(`(() => { const scene = window.sondeScene; return ${expression}; })()`);

// A box of the timeline that holds one slice: where it is on the screen, and its number.
async function box(page, wish = () => true) {
	const list = await page.evaluate(() => {
		const { store, loader, span, ratio } = window.sondeScene,
			found = [];
		const stage = document.querySelector('.stage').getBoundingClientRect();
		const layout = store.layout.value;
		for (const row of layout.rows)
			row.lanes.forEach((lane, i) => {
				for (const chunk of loader.chunks.slice(0, 1)) {
					const head = chunk.lanes.get(lane.lane);
					for (let r = 0; head && r < head.n; r++) {
						const w = (head.at + r) * 4,
							word = chunk.words[w],
							perPixel = (chunk.to - chunk.from) / chunk.px;
						const x =
							(((chunk.from +
								((word & 0xffff) + (word >>> 16) / 2) * perPixel -
								span.from) /
								(span.to - span.from)) *
								span.width) /
							ratio;
						const y =
							row.y +
							layout.pinnedHeight -
							window.sondeScene.scroll +
							row.lanesAt +
							i * 18 +
							8;
						if (
							(chunk.words[w + 2] & 0xffffff) === 1 &&
							x > 0 &&
							x < stage.width &&
							y > layout.pinnedHeight &&
							y < stage.height
						)
							found.push({
								x: stage.x + x,
								y: stage.y + y,
								width: word >>> 16,
								slice: lane.first_slice + chunk.words[w + 3],
								name: store.sites.value[chunk.words[w + 1]].name,
								kind: store.sites.value[chunk.words[w + 1]].class,
							});
					}
				}
			});
		return found;
	});
	return list.filter(wish).sort((a, b) => b.width - a.width)[0];
}

async function timeline(browser, server) {
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${server.idOf('own.sonde')}&v=timeline`);
	await page.waitForFunction(() => window.sondeScene.nFrames > 0 && window.sondeScene.loader.chunks.length > 0);
	const whole = await scene(page, 'scene.store.view.value');
	// Zoom at the pointer keeps what is under it; pan moves; 0 shows everything.
	await page.mouse.move(740, 400);
	const under = await scene(page, `scene.nsAt(740 - document.querySelector('.stage').getBoundingClientRect().x)`);
	for (let i = 0; i < 4; i++) await page.keyboard.press('w');
	const near = await scene(page, 'scene.store.view.value');
	assert.ok(near.to - near.from < (whole.to - whole.from) / 3);
	assert.ok(
		Math.abs(
			(await scene(
				page,
				`scene.nsAt(740 - document.querySelector('.stage').getBoundingClientRect().x)`,
			)) - under,
		) <=
			(near.to - near.from) / 100,
	);
	await page.keyboard.press('d');
	assert.ok((await scene(page, 'scene.store.view.value')).from > near.from);
	await page.keyboard.down('Control');
	await page.mouse.wheel(0, 400);
	await page.keyboard.up('Control');
	assert.ok((await scene(page, 'scene.store.view.value.to - scene.store.view.value.from')) > near.to - near.from);
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
	assert.ok(
		fitted.from <= slice.start_ns &&
			fitted.to >= slice.start_ns + slice.dur_ns &&
			fitted.to - fitted.from <= 2 * slice.dur_ns + 40,
	);
	await page.reload();
	await page.waitForSelector('.details');
	assert.strictEqual(await page.textContent('.details h2 span:last-child'), one.name, 'a reload shows the same');
	assert.deepStrictEqual(await scene(page, 'scene.store.view.value'), fitted);
	// An instant: its triangle, its details, the one beside it.
	await page.keyboard.press('Escape');
	await page.keyboard.press('0');
	await settled(page);
	const mark = await page.evaluate(() => {
		const { store, loader } = window.sondeScene,
			layout = store.layout.value,
			row = layout.rows.find(one => one.lanesAt),
			stage = document.querySelector('.stage').getBoundingClientRect(),
			chunk = loader.chunks[0],
			head = chunk.lanes.get(-1 - row.track.id),
			word = head.at * 4;
		return {
			x:
				stage.x +
				window.sondeScene.xAt(
					chunk.from +
						((chunk.words[word] & 0xffff) * (chunk.to - chunk.from)) / chunk.px,
				),
			y: stage.y + layout.pinnedHeight + row.y - window.sondeScene.scroll + 4,
			name: store.sites.value[chunk.words[word + 1]].name,
			id: chunk.words[word + 3],
		};
	});
	await page.mouse.move(mark.x + 1, mark.y);
	await page.waitForSelector('.tip');
	assert.ok((await page.textContent('.tip')).includes(mark.name), 'the instant under the pointer');
	await page.mouse.click(mark.x + 1, mark.y);
	await page.waitForFunction(name => document.querySelector('.details h2')?.textContent === name, mark.name);
	assert.ok(page.url().includes(`sel=i${mark.id}`), 'the address holds the instant');
	await page.keyboard.press('ArrowRight');
	await page.waitForFunction(id => window.sondeScene.store.instant.value.id !== id, mark.id);
	await page.keyboard.press('ArrowLeft');
	await page.waitForFunction(id => window.sondeScene.store.instant.value.id === id, mark.id);
	await page.keyboard.press('Escape');
	await go(page, server, `s=${server.idOf('own.sonde')}&v=timeline&sel=${one.slice}`);
	await page.waitForSelector('.details');
	// To the next of the same name, and out.
	await page.waitForTimeout(300);
	if ((await scene(page, 'scene.store.selection.value.depth')) > 0) {
		await page.focus('.stage');
		await page.keyboard.press('ArrowUp');
		await page.waitForFunction(
			depth => window.sondeScene.store.selection.value.depth === depth - 1,
			slice.depth,
		);
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

	await go(page, server, `s=${server.idOf('own.sonde')}&v=timeline`);
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
	await page.waitForFunction(() => document.querySelector('.found')?.textContent.includes('No matching name'));
	assertQuiet(seen, 'search');
	await context.close();
}

// From a kernel to the call that launched it, and back.
async function flows(browser, server) {
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${server.idOf('torch.json.gz')}&v=sql`);
	await page.fill('textarea', "select id from kernels where name like '%gemm%' limit 1");
	await page.keyboard.press('Control+Enter');
	await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 1);
	await page.click('main tbody tr');
	await page.waitForSelector('.details .links');
	const kernel = await scene(page, 'scene.store.selection.value');
	const launch = kernel.flows.find(flow => flow.kind === 'launch');
	assert.strictEqual(kernel.class, 'kernel');
	assert.ok(
		launch && launch.dir === 'in' && launch.slice.start_ns <= kernel.start_ns,
		JSON.stringify(kernel.flows),
	);
	await page.click('.details .slice-link');
	await page.waitForFunction(id => window.sondeScene.store.selection.value.id === id, launch.slice.id);
	const host = await scene(page, 'scene.store.selection.value');
	assert.ok(host.flows.some(flow => flow.dir === 'out' && flow.slice.id === kernel.id));
	// Without Python its rows are gone, and what is left is what the server draws.
	const lanes = () => scene(page, 'scene.store.layout.value.rows.flatMap(row => row.lanes).length');
	await go(page, server, `s=${server.idOf('torch.json.gz')}&v=timeline`);
	const all = await lanes();
	await page.click('text=hide Python');
	await page.waitForFunction(() => window.sondeScene.store.emptyLanes.value.size > 5);
	assert.ok((await lanes()) < all - 5, 'rows of Python alone are gone');
	assert.ok(
		await page.evaluate(async () => {
			await new Promise(resolve => setTimeout(resolve, 500));
			const { store, loader } = window.sondeScene,
				chunk = loader.chunks[0];
			for (const { at, n } of chunk.lanes.values())
				for (let i = at; i < at + n; i++)
					if (store.sites.value[chunk.words[i * 4 + 1]].class === 'python') return false;
			return true;
		}),
		'no Python is left',
	);
	assertQuiet(seen, 'flows');
	await context.close();
}

async function notes(browser, server) {
	const { page, seen, context } = await open(browser, server);
	const text = '<img src=x onerror="window.pwned = 1"> slow here';

	await go(page, server, `s=${server.idOf('own.sonde')}&v=timeline&range=1000..2000`);
	await page.waitForSelector('.range');
	await page.keyboard.press('m');
	await page.fill('.note-editor input', text);
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => window.sondeScene.store.notes.value.length > 0);
	await go(page, server, `s=${server.idOf('own.sonde')}&v=overview`);
	await page.reload();
	await go(page, server, `s=${server.idOf('own.sonde')}&v=timeline`);
	await page.waitForSelector('.note-list');
	assert.ok((await page.textContent('.note-list')).includes(text));
	await page.click('.note-list .link');
	await page.waitForFunction(() => location.hash.includes('range=1000..2000'));
	assert.strictEqual(await page.evaluate(() => window.pwned), undefined);
	assertQuiet(seen, 'notes');
	await context.close();
}

// From a finding to its evidence.
async function showMe(browser, server) {
	const { page, seen, context } = await open(browser, server);

	await go(page, server, `s=${server.idOf('torch.json.gz')}&v=bottlenecks`);
	const button = await page.$('.finding button:not([disabled])');
	assert.ok(button, 'there is a finding with evidence');
	await button.click();
	await page.waitForSelector('.drawer-body');
	assert.ok(/sel=|range=/.test(page.url()), page.url());
	const whole = await scene(page, 'scene.store.end.value'),
		view = await scene(page, 'scene.store.view.value');
	assert.ok(view.to - view.from < whole, 'the view is around the evidence');
	assertQuiet(seen, 'showMe');
	await context.close();
}

module.exports = [timeline, search, flows, notes, showMe];
