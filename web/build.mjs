// Builds the page into dist/ (or --outdir DIR), or with --tests the unit tests into build/.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const option = name => {
	const at = process.argv.indexOf(name);
	return at < 0 ? undefined : (process.argv[at + 1] ?? '');
};
const common = {
	absWorkingDir: here,
	bundle: true,
	target: 'es2022',
	logLevel: 'warning',
	legalComments: 'none',
	jsx: 'automatic',
	jsxImportSource: 'preact',
};

if (process.argv.includes('--tests')) {
	const tests = readdirSync(join(here, 'test'))
		.filter(name => name.endsWith('.test.ts'))
		.map(name => join('test', name));
	rmSync(join(here, 'build'), { recursive: true, force: true });
	await build({
		...common,
		entryPoints: tests,
		outdir: 'build',
		platform: 'node',
		format: 'esm',
		sourcemap: 'inline',
		outExtension: { '.js': '.mjs' },
	});
} else {
	const outdir = option('--outdir') ?? join(here, 'dist');
	mkdirSync(outdir, { recursive: true });
	await build({
		...common,
		entryPoints: { app: 'src/main.tsx', worker: 'src/timeline/worker.ts' },
		outdir,
		minify: !process.env.DEV,
		format: 'iife',
	});
	copyFileSync(join(here, 'src/index.html'), join(outdir, 'index.html'));
	// Files to mail have the views they hold data for.
	const fewViews = {
		name: 'few-views',
		setup: ({ onResolve }) =>
			onResolve({ filter: /views\/list$/ }, () => ({ path: join(here, 'src/file/list.tsx') })),
	};
	const bundle = async (name, plugins) => {
		const { outputFiles } = await build({
			...common,
			entryPoints: { [name]: `src/${name}/main.tsx` },
			outdir,
			minify: !process.env.DEV,
			format: 'iife',
			plugins,
			write: false,
		});
		const text = end => outputFiles.find(file => file.path.endsWith(end)).text.trim();
		return { script: text('.js'), style: text('.css') };
	};
	const hash = text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
	// A page with its parts in it and places for data.
	const fill = (name, parts) => {
		if (Object.values(parts).some(part => /<\/(script|style)|@(VIEWS|TITLE|STATIC|DATA)@/i.test(part)))
			throw new Error('what a file to mail carries would end too early');
		const page = readFileSync(join(here, 'src', name, `${name}.html`), 'utf8')
			.replaceAll(/@(SCRIPT|STYLE)_HASH@/g, (_, which) => hash(parts[which.toLowerCase()]))
			.replaceAll(/@(SCRIPT|STYLE|WORKER)@/g, (_, which) => parts[which.toLowerCase()]);
		writeFileSync(join(outdir, '..', 'dist-file', `${name}.html`), page);
	};
	const worker = readFileSync(join(outdir, 'worker.js'), 'utf8').trim();
	mkdirSync(join(outdir, '..', 'dist-file'), { recursive: true });
	fill('file', { ...(await bundle('file', [fewViews])), worker });
	fill('report', await bundle('report', []));
}
