// Builds the page into dist/ (or --outdir DIR), or with --tests the unit tests into build/.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const option = name => {
	const at = process.argv.indexOf(name);
	return at < 0 ? undefined : process.argv[at + 1] ?? '';
};
const common = {
	absWorkingDir: here, bundle: true, target: 'es2022', logLevel: 'warning', legalComments: 'none',
	jsx: 'automatic', jsxImportSource: 'preact',
};

if (process.argv.includes('--tests')) {
	const tests = readdirSync(join(here, 'test')).filter(name => name.endsWith('.test.ts')).map(name => join('test', name));
	rmSync(join(here, 'build'), { recursive: true, force: true });
	await build({ ...common, entryPoints: tests, outdir: 'build', platform: 'node', format: 'esm', sourcemap: 'inline',
		outExtension: { '.js': '.mjs' } });
} else {
	const outdir = option('--outdir') ?? join(here, 'dist');
	mkdirSync(outdir, { recursive: true });
	await build({ ...common, entryPoints: { app: 'src/main.tsx', worker: 'src/timeline/worker.ts' }, outdir, minify: !process.env.DEV,
		format: 'iife' });
	copyFileSync(join(here, 'src/index.html'), join(outdir, 'index.html'));
}
