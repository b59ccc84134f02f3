import assert from 'node:assert';
import test from 'node:test';
import { noteText, windowText } from '../src/data/window';
import type { Session } from '../src/state/types';

const one: Session = {
	id: 1,
	name: 'run',
	state: 'live',
	progress: 1,
	duration_ns: 94e9,
	window: { from_ns: 90.9e9, dur_ns: 3.1e9, n_events: 4e6, catches_up: false },
};

test('a window says what it shows and what becomes of the rest', () => {
	const start = 'The newest 3.10 s of 94.0 s; older events are ';
	assert.equal(windowText(null), null);
	assert.equal(windowText({ ...one, window: null }), null);
	assert.equal(windowText(one), start + 'indexed after the recording ends.');
	assert.equal(windowText({ ...one, window: { ...one.window!, catches_up: true } }), start + 'being read.');
	assert.equal(windowText({ ...one, state: 'ready', progress: 0 }), start + 'being indexed.');
	assert.equal(windowText({ ...one, state: 'ready', progress: 0.425 }), start + 'being indexed, 42.5 %.');
	assert.equal(windowText({ ...one, state: 'ready', message: 'no memory' }), start + 'not shown: no memory.');
});

test('damage is said before anything else', () => {
	assert.equal(noteText({ ...one, damage: 'byte 5: some slices cannot be read' }), 'The file is damaged: byte 5: some slices cannot be read.');
	assert.equal(noteText(one), windowText(one));
	assert.equal(noteText(null), null);
});
