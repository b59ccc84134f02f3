import assert from 'node:assert';
import test from 'node:test';
import { eachNode, matchSum, sumNames, treeOf, viewOf, type Answer } from '../src/flame/tree';

// main(100) -> a(30) -> main(10), b(60)
const answer = (more: Partial<Answer> = {}): Answer => ({
	unit: 'ns',
	total: 100,
	names: ['main', 'a', 'b'],
	classes: ['compute', 'compute', 'kernel'],
	name: [0, 1, 2, 0],
	parent: [-1, 0, 0, 1],
	value: [100, 30, 60, 10],
	self: [10, 20, 60, 10],
	count: [1, 3, 2, 1],
	...more,
});

const seen = (tree: ReturnType<typeof treeOf>, zoom: number | null): [number, number, number, number][] => {
	const list: [number, number, number, number][] = [];
	eachNode(tree, viewOf(tree, zoom), 100, (...node) => list.push(node));
	return list;
};

test('the heaviest child comes first, children lie within their parent', () => {
	const tree = treeOf(answer());
	assert.deepEqual(seen(tree, null), [
		[0, 0, 100, 0],
		[2, 0, 60, 1],
		[1, 60, 90, 1],
		[3, 60, 70, 2],
	]);
	assert.equal(tree.maxDepth, 2);
});

test('in the order of time each lies where it began', () => {
	const tree = treeOf(answer({ start: [1000, 1005, 1040, 1010] }));
	assert.deepEqual(
		seen(tree, null).map(node => node.slice(0, 3)),
		[
			[0, 0, 100],
			[1, 5, 35],
			[3, 10, 20],
			[2, 40, 100],
		],
	);
});

test('zoom fills the width; what is out of it is gone, its parents stay', () => {
	assert.deepEqual(
		seen(treeOf(answer()), 1).map(([node, x0, x1]) => [node, x0, Math.round(x1)]),
		[
			[0, 0, 100],
			[1, 0, 100],
			[3, 0, 33],
		],
	);
});

test('recursion counts once', () => {
	const sums = sumNames(treeOf(answer()));
	assert.deepEqual(
		sums.map(sum => [sum.name, sum.value, sum.self, sum.count]),
		[
			['b', 60, 60, 2],
			['main', 100, 20, 2],
			['a', 30, 20, 3],
		],
	);
});

test('of two traces the wider counts, so that what went away is seen', () => {
	const tree = treeOf(answer({ base: [120, 90, 20, 0] }));
	assert.deepEqual(
		seen(tree, null)
			.map(([node, x0, x1]) => [node, Math.round(x0), Math.round(x1)])
			.slice(0, 2),
		[
			[0, 0, 100],
			[1, 0, 75],
		],
	);
	assert.equal(sumNames(tree)[0]!.base, 20);
});

test('nothing and broken parents do no harm', () => {
	assert.equal(treeOf(answer({ name: [], parent: [], value: [], self: [], count: [] })).n, 0);
	assert.equal(treeOf(answer({ parent: [-1, 7, 2, -5] })).roots.length, 4);
});

test('what matches a search is summed up, what is inside of a match with it', () => {
	const tree = treeOf(answer());
	assert.deepEqual(matchSum(tree, ' MAIN'), { n: 2, value: 100 });
	assert.deepEqual(matchSum(tree, 'b'), { n: 1, value: 60 });
	assert.deepEqual(matchSum(tree, 'x'), { n: 0, value: 0 });
});
