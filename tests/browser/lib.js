// For the tests of the page: a browser, the server under test, and what must hold on every page.
'use strict';
const assert = require('assert');
const { spawn } = require('child_process');
const fs = require('fs');
const path = require('path');
const { chromium } = require('playwright-core');

const launch = () =>
	chromium.launch({
		executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
		args: process.getuid() === 0 ? ['--no-sandbox'] : [],
	});

// sonde serve on a free port; resolves to { url, base, stop() }.
function serve(sonde, files) {
	const child = spawn(sonde, ['serve', '--port', '0', ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
	const stop = () =>
		new Promise(resolve => {
			child.once('exit', resolve);
			child.kill('SIGINT');
		});

	return new Promise((resolve, reject) => {
		let text = '';
		child.once('exit', code => reject(new Error(`sonde serve ended with ${code}`)));
		child.stdout.on('data', data => {
			text += data;
			const url = /http:\/\/\S+/.exec(text);
			if (url) resolve({ url: url[0], base: url[0].replace(/\/\?.*/, ''), stop });
		});
	});
}

// A page of the server, watched: what it asks for, what it complains about.
async function open(browser, server, options = {}, hash = '') {
	const context = await browser.newContext({
		viewport: { width: 1280, height: 900 },
		permissions: ['clipboard-read', 'clipboard-write'],
		...options,
	});
	const page = await context.newPage();
	const seen = { foreign: [], errors: [] };

	page.on(
		'request',
		request =>
			request.url().startsWith(server.base) ||
			request.url().startsWith('data:') ||
			seen.foreign.push(request.url()),
	);
	page.on('pageerror', error => seen.errors.push(error.stack));
	page.on(
		'console',
		message =>
			['error', 'warning'].includes(message.type()) &&
			seen.errors.push(`${message.text()} ${message.location().url}`),
	);
	page.on('dialog', dialog => seen.errors.push('dialog: ' + dialog.message()));
	await page.addInitScript(() =>
		addEventListener('securitypolicyviolation', event =>
			console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`),
		),
	);
	await page.goto(server.url + hash);
	await page.waitForSelector('[role=tab]');
	return { page, seen, context };
}

function assertQuiet(seen, where) {
	assert.deepStrictEqual(seen.foreign, [], `${where}: requests to elsewhere`);
	assert.deepStrictEqual(seen.errors, [], `${where}: errors`);
}

// Goes to a state of the page and waits until nothing is on its way any more.
async function go(page, server, hash) {
	await page.evaluate(to => {
		location.hash = to;
	}, hash);
	await settled(page);
}

async function settled(page) {
	await page.waitForTimeout(150);
	await page.waitForSelector('main[aria-busy=false]', { timeout: 60000 });
	await page.waitForTimeout(150);
	await page.waitForSelector('main[aria-busy=false]', { timeout: 60000 });
}

// Runs tests one after the other, each with the browser and a server of the traces in the directory.
//
//   node TEST.js SONDE DIRECTORY
async function runTests(tests) {
	const [sonde, directory] = process.argv.slice(2),
		only = process.env.ONLY?.split(',');
	const files = [
		'own.sonde',
		'cpu.json',
		'empty.json',
		'hostile.json',
		'leaks.sonde',
		'compiled.json.gz',
		'gpu.json',
		'torch.json.gz',
		'ranks.sonde',
	].filter(
		name => fs.existsSync(path.join(directory, name)),
	);
	const server = await serve(
		sonde,
		files.map(name => path.join(directory, name)),
	);
	const browser = await launch();

	server.files = files;
	server.idOf = name => files.indexOf(name) + 1;
	try {
		for (const test of tests.filter(one => !only || only.includes(one.name))) {
			const start = Date.now();
			await test(browser, server);
			console.log(`${test.name}: ${((Date.now() - start) / 1000).toFixed(1)} s`);
		}
	} catch (error) {
		console.error(error);
		process.exitCode = 1;
	} finally {
		await browser.close();
		await server.stop();
	}
}

module.exports = { assert, assertQuiet, go, launch, open, runTests, serve, settled };
