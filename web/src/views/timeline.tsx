// The timeline: minimap, ruler with steps, rows of boxes, details below.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import * as format from '../data/format';
import { Empty, Failed, Waiting } from '../parts/empty';
import { onSearch } from '../parts/search';
import { Swatch } from '../timeline/details';
import { Drawer } from '../timeline/drawer';
import { listenBoxes, listenKeys, listenRuler } from '../timeline/input';
import { HEIGHT } from '../timeline/layout';
import { Label, Labels } from '../timeline/labels';
import { Scene } from '../timeline/scene';
import { Tools } from '../timeline/tools';
import { Store, type Hover } from '../timeline/store';

// Alone in reading what is under the pointer, so that nothing else is made anew when that moves.
function Hovered({ store, width }: { store: Store; width: number }) {
	const hover = store.hover.value;

	return hover && (hover.slice >= 0 || hover.instant || hover.counter) ? (
		<Tip hover={hover} store={store} isLeft={hover.x > width * 0.6} />
	) : null;
}

function Tip({ hover, store, isLeft }: { hover: Hover; store: Store; isLeft: boolean }) {
	const site = store.sites.value[hover.instant?.site ?? hover.site];
	const [text, setText] = useState('');

	useEffect(() => {
		setText('');
		if (hover.slice < 0 || hover.n > 1) return undefined;
		const timer = setTimeout(
			() =>
				store.slice(hover.slice).then(
					slice =>
						setText(
							`${format.ns(slice.dur_ns)}, self ${format.ns(slice.self_ns)}, at ${format.at(slice.start_ns, 1000)}`,
						),
					() => undefined,
				),
			60,
		);
		return () => clearTimeout(timer);
	}, [hover.slice]);
	const place = isLeft
		? { right: `calc(100% - ${hover.x - 12}px)`, top: `${hover.y + 16}px` }
		: { left: `${hover.x + 12}px`, top: `${hover.y + 16}px` };
	if (hover.counter) {
		const { name, min, max } = hover.counter,
			type = format.counterText(name);
		return (
			<div class="tip" style={place}>
				{name} <b>{min === max ? type(max) : `${type(min)} to ${type(max)}`}</b>
			</div>
		);
	}
	if (!site) return null;
	return (
		<div class="tip" style={place}>
			<div class="mono">
				<Swatch name={site.name} kind={site.class} />
				{format.middle(site.name, 160)}
			</div>
			<div class="quiet">
				{hover.instant
					? hover.instant.n > 1
						? `an instant, the first of ${format.count(hover.instant.n)} in this pixel`
						: 'an instant'
					: hover.n > 1
						? `${format.count(hover.n)} slices share this pixel; this is the longest`
						: text || ' '}
			</div>
		</div>
	);
}

// The same as the picture, for readers who do not see it: what is outermost in sight.
function Spoken({ store }: { store: Store }) {
	const layout = store.layout.value,
		slice = store.selection.value,
		instant = store.instant.value;

	return (
		<p class="hidden-text" aria-live="polite">
			{slice
				? `${slice.name}, ${format.ns(slice.dur_ns)}, at ${format.at(slice.start_ns, 1000)}`
				: instant
					? `${instant.name}, an instant at ${format.at(instant.time_ns, 1000)}`
					: `${format.plural((layout?.rows.length ?? 0) + (layout?.pinned.length ?? 0), 'row')} from ${format.at(store.view.value.from, 1000)} to ${format.at(store.view.value.to, 1000)}`}
		</p>
	);
}

export function Timeline() {
	const store = useMemo(() => new Store(), []);
	const minimap = useRef<HTMLCanvasElement>(null),
		ruler = useRef<HTMLCanvasElement>(null),
		boxes = useRef<HTMLCanvasElement>(null),
		overlay = useRef<HTMLCanvasElement>(null);
	const scroller = useRef<HTMLDivElement>(null),
		stage = useRef<HTMLDivElement>(null),
		scene = useRef<Scene | null>(null);
	const [scroll, setScroll] = useState(0);
	const [size, setSize] = useState({ width: 1, height: 1 });
	const { layout } = store;
	const total = layout.value ? layout.value.height + layout.value.pinnedHeight : 0;

	useEffect(() => {
		store.start();
		const made = new Scene(store, {
			minimap: minimap.current!,
			ruler: ruler.current!,
			boxes: boxes.current!,
			overlay: overlay.current!,
		});
		scene.current = made;
		(window as unknown as { sondeScene: Scene }).sondeScene = made; // for bench/view and browser tests
		const node = scroller.current!;
		const watch = new ResizeObserver(() => {
			const { clientHeight } = node,
				width = stage.current?.clientWidth ?? 0;
			made.resize(width, clientHeight);
			setSize({ width, height: clientHeight });
		});
		watch.observe(node);
		const ends = [
			listenBoxes(made, stage.current!),
			listenRuler(made, ruler.current!, minimap.current!),
			listenKeys(made),
		];
		onSearch.value = dir => void store.searchNext(dir);
		return () => {
			onSearch.value = null;
			watch.disconnect();
			ends.forEach(end => end());
			made.stop();
			store.stop();
		};
	}, []);
	// A selection in a row that is out of sight is brought into sight.
	const selected = store.selection.value;
	useEffect(() => {
		const box = selected && scene.current?.boxOf(selected),
			node = scroller.current;
		const pinned = layout.peek()?.pinnedHeight ?? 0;
		if (box && node && (box.y < pinned || box.y + HEIGHT.lane > size.height))
			node.scrollTop += box.y - size.height / 2;
	}, [selected?.id, size.height, layout.value !== null]);

	if (store.error.value && !store.tracks.value) return <Failed title="Timeline" text={store.error.value} />;
	return (
		<div class="timeline">
			<Tools store={store} />
			<div class="tl-head">
				<div class="corner quiet">
					<span>
						{store.tracks.value
							? format.plural(store.tracks.value.tracks.length, 'track')
							: ''}
					</span>
					<span>{store.steps.value.length ? 'steps' : ''}</span>
				</div>
				<canvas
					ref={minimap}
					class="minimap"
					aria-label="The whole trace; click to go there"
					role="img"
				/>
				<canvas
					ref={ruler}
					class="ruler"
					aria-label="Time ruler and steps; drag to zoom"
					role="img"
				/>
			</div>
			<div
				class="tl-scroll"
				ref={scroller}
				onScroll={event => {
					setScroll(event.currentTarget.scrollTop);
					if (scene.current) {
						scene.current.scroll = event.currentTarget.scrollTop;
						scene.current.plan();
					}
				}}
			>
				<div class="tl-space" style={{ height: `${total}px` }}>
					<div class="tl-sticky">
						<div
							class="pinned-labels"
							style={{ height: `${layout.value?.pinnedHeight ?? 0}px` }}
						>
							{layout.value?.pinned.map(row => (
								<Label
									key={row.key}
									row={row}
									store={store}
									top={row.y}
								/>
							))}
						</div>
						<div
							ref={stage}
							class="stage"
							tabIndex={0}
							role="application"
							aria-label="Timeline. Arrows move between slices; press ? for all keys."
							style={{ height: `${size.height}px` }}
						>
							<canvas
								ref={boxes}
								class="boxes"
								style={{
									width: `${size.width}px`,
									height: `${size.height}px`,
								}}
							/>
							<canvas
								ref={overlay}
								class="overlay-canvas"
								style={{
									width: `${size.width}px`,
									height: `${size.height}px`,
								}}
							/>
							<Hovered store={store} width={size.width} />
						</div>
					</div>
					<Labels store={store} scroll={scroll} height={size.height} />
				</div>
				{store.tracks.value && total === 0 && (
					<Empty
						title="No slices"
						text="This trace has no slices, or the filters leave none."
						command="sonde record -- ./train"
					/>
				)}
				{!store.tracks.value && <Waiting text={null} />}
			</div>
			<Drawer store={store} />
			<Spoken store={store} />
		</div>
	);
}
