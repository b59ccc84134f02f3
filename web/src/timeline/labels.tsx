// Names of the timeline's rows, with what folds and pins them.
import type { Row } from './layout';
import type { Store } from './store';

export function Label({ row, store, top }: { row: Row; store: Store; top: number }) {
	const canFold = row.kind === 'process' || (row.track !== null && (row.lanes.length > 1 || row.isFolded));

	return (
		<div
			class={`label ${row.kind}`}
			style={{ top: `${top}px`, height: `${row.height}px` }}
			title={`${row.label}${row.detail ? ` · ${row.detail}` : ''}`}
		>
			{canFold ? (
				<button
					class="plain fold"
					aria-expanded={!row.isFolded}
					aria-label={`${row.isFolded ? 'Unfold' : 'Fold'} ${row.label}`}
					onClick={() => store.toggle('fold', row.key)}
				>
					{row.isFolded ? '▸' : '▾'}
				</button>
			) : (
				<span class="fold" />
			)}
			<span class="text">
				{row.label}
				{row.detail && <span class="quiet"> {row.detail}</span>}
			</span>
			{row.nHidden > 0 && (
				<span class="quiet more" title={`${row.nHidden} more levels are not shown`}>
					+{row.nHidden}
				</span>
			)}
			{row.kind !== 'process' && (
				<button
					class="plain pin"
					aria-pressed={row.isPinned}
					aria-label={`${row.isPinned ? 'Unpin' : 'Pin'} ${row.label}`}
					title="Pin to the top"
					onClick={() => store.toggle('pin', row.key)}
				>
					<svg viewBox="0 0 12 12" aria-hidden="true">
						<path
							d="M4 1h4M4.5 1v4L3 7h6L7.5 5V1M6 7v4"
							fill={row.isPinned ? 'currentColor' : 'none'}
							stroke="currentColor"
						/>
					</svg>
				</button>
			)}
		</div>
	);
}

// Only the labels of rows that can be seen are in the page.
export function Labels({ store, scroll, height }: { store: Store; scroll: number; height: number }) {
	const layout = store.layout.value;
	const rows =
		layout?.rows.filter(row => row.y + row.height > scroll - 300 && row.y < scroll + height + 300) ?? [];

	return (
		<div class="labels">
			{rows.map(row => (
				<Label key={row.key} row={row} store={store} top={row.y + layout!.pinnedHeight} />
			))}
		</div>
	);
}
