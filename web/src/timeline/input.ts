// Mouse, touchpad and keys of the timeline.
import { copy, go, link, param } from '../state/app';
import { isFile } from '../state/api';
import { isTyping } from '../parts/typing';
import type { Scene } from './scene';
import { fit, pan, zoom } from './viewport';

const CLICK = 4; // px that a hand may shake

// Zoom for a turn of the wheel or a pinch, whatever the device counts in.
const wheelFactor = (event: WheelEvent): number =>
	Math.exp(Math.max(-1, Math.min(1, event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.004))));

export function listenBoxes(scene: Scene, element: HTMLElement): () => void {
	const { store } = scene;
	const control = new AbortController(),
		{ signal } = control;
	const at = (event: MouseEvent): { x: number; y: number } => {
		const box = element.getBoundingClientRect();
		return { x: event.clientX - box.left, y: event.clientY - box.top };
	};
	let start: { x: number; y: number; ns: number; isPan: boolean; from: number; to: number } | null = null;

	element.addEventListener(
		'wheel',
		event => {
			if (event.ctrlKey || event.metaKey)
				store.move(
					zoom(
						store.view.peek(),
						wheelFactor(event),
						at(event).x / scene.width,
						store.end.peek(),
					),
				);
			else {
				const dx = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
				if (Math.abs(dx) <= Math.abs(event.deltaY) && !event.shiftKey) return; // the browser scrolls
				const { from, to } = store.view.peek();
				store.move(pan(store.view.peek(), (dx / scene.width) * (to - from), store.end.peek()));
			}
			event.preventDefault();
		},
		{ signal, passive: false },
	);

	element.addEventListener(
		'pointerdown',
		event => {
			if (event.button > 1) return;
			const { x, y } = at(event),
				{ from, to } = store.view.peek();
			start = { x, y, ns: scene.nsAt(x), isPan: event.shiftKey || event.button === 1, from, to };
			element.setPointerCapture(event.pointerId);
		},
		{ signal },
	);

	element.addEventListener(
		'pointermove',
		event => {
			const { x, y } = at(event);
			if (start && Math.abs(x - start.x) + Math.abs(y - start.y) > CLICK) {
				if (start.isPan) {
					const ns = ((start.x - x) / scene.width) * (start.to - start.from);
					store.move(pan({ from: start.from, to: start.to }, ns, store.end.peek()));
				} else {
					const other = Math.max(
						0,
						Math.min(
							store.end.peek(),
							scene.nsAt(Math.max(0, Math.min(scene.width, x))),
						),
					);
					scene.drag = {
						from: Math.round(Math.min(start.ns, other)),
						to: Math.round(Math.max(start.ns, other)),
					};
					scene.plan();
				}
			}
			const hit = start ? null : scene.hit(x, y),
				instant = start ? null : scene.instantAt(x, y),
				counter = start ? null : scene.counterAt(x, y);
			store.hover.value = { slice: -1, site: -1, n: 0, lane: -1, instant, counter, ...hit, x, y };
		},
		{ signal },
	);

	element.addEventListener(
		'pointerup',
		event => {
			const { x, y } = at(event);
			if (scene.drag) {
				go({ range: `${scene.drag.from}..${scene.drag.to}`, sel: '' });
				scene.drag = null;
			} else if (start && Math.abs(x - start.x) + Math.abs(y - start.y) <= CLICK) {
				const hit = scene.hit(x, y),
					instant = scene.instantAt(x, y);
				const sel = instant ? `i${instant.id}` : hit ? String(hit.slice) : '';
				go({ sel, range: '' });
			}
			start = null;
			element.focus({ preventScroll: true });
		},
		{ signal },
	);

	element.addEventListener(
		'dblclick',
		event => {
			const hit = scene.hit(at(event).x, at(event).y);
			if (hit)
				void store
					.slice(hit.slice)
					.then(slice =>
						store.move(
							fit(
								slice.start_ns,
								slice.start_ns + slice.dur_ns,
								store.end.peek(),
							),
						),
					);
		},
		{ signal },
	);
	element.addEventListener(
		'pointerleave',
		() => {
			store.hover.value = null;
		},
		{ signal },
	);
	return () => control.abort();
}

// The ruler: drag zooms to what was brushed. The minimap: click and drag move what is seen.
export function listenRuler(scene: Scene, ruler: HTMLElement, minimap: HTMLElement): () => void {
	const { store } = scene,
		control = new AbortController(),
		{ signal } = control;
	let from: number | null = null,
		isMoving = false;
	const x = (event: PointerEvent): number =>
		event.clientX - (event.currentTarget as HTMLElement).getBoundingClientRect().left;
	const center = (event: PointerEvent): void => {
		const { from, to } = store.view.peek(),
			at = (x(event) / scene.width) * store.end.peek();
		store.move(pan(store.view.peek(), at - (from + to) / 2, store.end.peek()));
	};

	ruler.addEventListener(
		'pointerdown',
		event => {
			from = scene.nsAt(x(event));
			ruler.setPointerCapture(event.pointerId);
		},
		{ signal },
	);
	ruler.addEventListener(
		'pointermove',
		event => {
			if (from === null) return;
			const to = scene.nsAt(x(event));
			scene.drag = { from: Math.round(Math.min(from, to)), to: Math.round(Math.max(from, to)) };
			scene.plan();
		},
		{ signal },
	);
	ruler.addEventListener(
		'pointerup',
		event => {
			const step = store.stepRow
				.peek()
				.find(
					one =>
						from !== null &&
						one.start_ns <= from &&
						one.start_ns + one.dur_ns >= from,
				);
			const isBrush = scene.drag && scene.xAt(scene.drag.to) - scene.xAt(scene.drag.from) > CLICK;
			if (isBrush) store.move({ ...scene.drag! });
			else if (step && event.clientY - ruler.getBoundingClientRect().top > 22)
				go({ range: `${step.start_ns}..${step.start_ns + step.dur_ns}`, sel: '' });
			scene.drag = null;
			from = null;
			scene.plan();
		},
		{ signal },
	);
	minimap.addEventListener(
		'pointerdown',
		event => {
			isMoving = true;
			minimap.setPointerCapture(event.pointerId);
			center(event);
		},
		{ signal },
	);
	minimap.addEventListener('pointermove', event => isMoving && center(event), { signal });
	minimap.addEventListener(
		'pointerup',
		() => {
			isMoving = false;
		},
		{ signal },
	);
	return () => control.abort();
}

export function listenKeys(scene: Scene): () => void {
	const { store } = scene;
	const selected = (): { from: number; to: number } | null => {
		const slice = store.selection.peek(),
			instant = store.instant.peek(),
			around = (store.view.peek().to - store.view.peek().from) / 8;
		if (instant) return { from: instant.time_ns - around, to: instant.time_ns + around };
		return slice ? { from: slice.start_ns, to: slice.start_ns + slice.dur_ns } : store.range.peek();
	};
	const pointer = (): number =>
		Math.max(0, Math.min(1, (store.hover.peek()?.x ?? scene.width / 2) / scene.width));
	const move = (share: number): void => {
		const { from, to } = store.view.peek();
		store.move(pan(store.view.peek(), share * (to - from), store.end.peek()));
	};
	const scale = (factor: number): void =>
		store.move(zoom(store.view.peek(), factor, pointer(), store.end.peek()));
	const actions: Record<string, () => void> = {
		w: () => scale(0.7),
		s: () => scale(1 / 0.7),
		a: () => move(-0.15),
		d: () => move(0.15),
		f: () => {
			const range = selected();
			if (range) store.move(fit(range.from, range.to, store.end.peek()));
		},
		0: () => store.move({ from: store.begin.peek(), to: store.end.peek() }),
		m: () => {
			store.isNoting.value = !isFile;
		},
		l: () => void copy(link({}), 'a link to this view'),
		'[': () => void store.neighbor('previous', 'name'),
		']': () => void store.neighbor('next', 'name'),
		n: () => {
			if (param('q')) void store.searchNext('next');
		},
		p: () => {
			if (param('q')) void store.searchNext('previous');
		},
		Enter: () => {
			const range = selected();
			if (range) store.move(fit(range.from, range.to, store.end.peek()));
		},
		Escape: () => {
			if (store.isNoting.peek()) store.isNoting.value = false;
			else if (param('sel') || param('range')) go({ sel: '', range: '' });
			else if (param('q')) go({ q: '' });
			else scale(2);
		},
		ArrowLeft: () => {
			if (store.instant.peek()) void store.besideInstant('previous');
			else if (store.selection.peek()) void store.neighbor('left');
			else move(-0.15);
		},
		ArrowRight: () => {
			if (store.instant.peek()) void store.besideInstant('next');
			else if (store.selection.peek()) void store.neighbor('right');
			else move(0.15);
		},
		ArrowUp: () => {
			if (store.selection.peek()) void store.neighbor('parent');
		},
		ArrowDown: () => {
			if (store.selection.peek()) void store.neighbor('child');
		},
	};
	const onKey = (event: KeyboardEvent): void => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
		const isInTable =
			event.target instanceof Element &&
			event.target.closest('table, button, [role=tablist]') !== null;
		if (isInTable && /^(Arrow|Enter| )/.test(event.key)) return;
		const run = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
		if (run) {
			run();
			event.preventDefault();
		}
	};
	addEventListener('keydown', onKey);
	return () => removeEventListener('keydown', onKey);
}
