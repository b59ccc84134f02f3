// Keys, in the order in which they are needed.
import { useEffect, useRef } from 'preact/hooks';
import { isHelpOpen } from '../state/app';

const KEYS: [string, [string, string][]][] = [
	[
		'Everywhere',
		[
			['1 … 9', 'views in tab order'],
			['/', 'search'],
			['?', 'this page'],
			['Esc', 'close'],
		],
	],
	[
		'Timeline: move',
		[
			['W S', 'zoom in and out at the pointer'],
			['A D', 'left and right'],
			['F', 'fit the selection'],
			['0', 'show the whole trace'],
			['wheel', 'up and down'],
			['Ctrl wheel', 'zoom'],
			['Shift drag', 'pan'],
			['drag', 'select a range and measure it'],
		],
	],
	[
		'Timeline: slices',
		[
			['← →', 'next slice in its row'],
			['↑ ↓', 'parent and child'],
			['Enter', 'fit the slice'],
			['Esc', 'deselect, zoom out'],
			['[ ]', 'previous and next of the same name'],
			['M', 'add a note here'],
			['L', 'copy a link to this view'],
		],
	],
	[
		'Timeline: search',
		[
			['Enter', 'next match'],
			['Shift Enter', 'previous match'],
			['N P', 'next and previous match'],
		],
	],
	[
		'Flame',
		[
			['click, Enter', 'zoom to a frame'],
			['Esc', 'zoom out'],
			['← → ↑ ↓', 'move between frames'],
		],
	],
	[
		'Tables',
		[
			['↑ ↓', 'rows'],
			['Enter', 'show the row in the timeline, where it can'],
		],
	],
];

export function Help() {
	const close = useRef<HTMLButtonElement>(null);

	useEffect(() => close.current?.focus(), []);
	return (
		<div
			class="overlay"
			onClick={event => {
				if (event.target === event.currentTarget) isHelpOpen.value = false;
			}}
		>
			<div class="dialog" role="dialog" aria-modal="true" aria-label="Keys">
				<header>
					<h1>Keys</h1>
					<button
						ref={close}
						onClick={() => {
							isHelpOpen.value = false;
						}}
					>
						close
					</button>
				</header>
				<div class="keys">
					{KEYS.map(([title, rows]) => (
						<section key={title}>
							<h3>{title}</h3>
							<dl>
								{rows.map(([key, text]) => [
									<dt key={key}>
										<kbd>{key}</kbd>
									</dt>,
									<dd>{text}</dd>,
								])}
							</dl>
						</section>
					))}
				</div>
				<p class="quiet">
					The address holds the state: any view can be linked, reloaded and gone back
					to.
				</p>
			</div>
		</div>
	);
}
