import assert from 'node:assert';
import test from 'node:test';
import * as format from '../src/data/format';

test('numbers read as the command prints them', () => {
	for (const [ns, text] of [
		[0, '0 s'],
		[1, '1 ns'],
		[999, '999 ns'],
		[1500, '1.50 us'],
		[999_600_000, '1.00 s'],
		[1_940_000_000, '1.94 s'],
		[62_100_000, '62.1 ms'],
		[-1500, '-1.50 us'],
		[12_345_000_000_000, '12,345 s'],
	] as const)
		assert.equal(format.ns(ns), text);
	for (const [bytes, text] of [
		[0, '0 B'],
		[327155712, '312 MiB'],
		[1023, '1,023 B'],
		[1048570, '1.00 MiB'],
	] as const)
		assert.equal(format.bytes(bytes), text);
	assert.equal(format.count(31744), '31,744');
	assert.equal(format.percent(61.84), '61.8');
	assert.equal(format.percent(0.001), '<0.01');
	assert.equal(format.number(0.25), '0.250');
	assert.equal(format.number(1.23e-7), '1.23e-07');
	assert.equal(format.ns(null), '-');
	assert.equal(format.inUnit(NaN, format.nsUnit(5)), '-');
});

test('a column has one unit', () => {
	const unit = format.nsUnit(2e9);
	assert.equal(format.inUnit(1_000, unit), '<0.01 s');
	assert.equal(format.inUnit(0, unit), '0 s');
	assert.equal(format.inUnit(30_000_000, unit), '0.03 s');
});

test('a point in time has the digits its scale needs', () => {
	assert.equal(format.at(1_250_000_000, 50_000_000), '1.25 s');
	assert.equal(format.at(1_250_000_000, 1), '1.250000000 s');
	assert.equal(format.at(12_300_000, 100_000), '12.3 ms');
	assert.equal(format.at(0, 1e9), '0 s');
});

test('long names are cut in the middle', () => {
	assert.equal(format.middle('aten::convolution_backward', 12), 'aten::c…ward');
	assert.equal(format.middle('short', 12), 'short');
});

test('names for boxes', async () => {
	const { shortName } = await import('../src/data/colors');
	for (const [name, text] of [
		['torch/nn/modules/module.py(1743): _call_impl', 'module.py(1743): _call_impl'],
		['aten::mm', 'aten::mm'],
		[
			'void at::native::vectorized_elementwise_kernel<4, at::native::Add<float> >(int)',
			'at::native::vectorized_elementwise_kernel',
		],
		['<built-in method x>', '<built-in method x>'],
		['operator (custom)', 'operator (custom)'],
	] as const)
		assert.equal(shortName(name), text);
});

test('what is beyond any sense is said to be large; values of counters have their unit', () => {
	assert.equal(format.percent(48516519441), '>99,999');
	assert.equal(format.percent(99999), '99,999');
	assert.equal(format.counterText('rss bytes')(2048), '2.00 KiB');
	assert.equal(format.counterText('cpu time ns user')(1500), '1.50 us');
	assert.equal(format.counterText('threads')(4), '4');
	assert.equal(format.counterText('loss')(3.7049), '3.70');
});
