// The traces of this server: switch, compare, rename, upload.
import { useEffect, useRef, useState } from 'preact/hooks';
import * as format from '../data/format';
import { go, loadSessions, param, say, sessionId, sessions, show } from '../state/app';
import { send, sentence } from '../state/api';
import type { Session } from '../state/types';
import { Command } from './empty';

const factsOf = (one: Session): string =>
	[
		one.state === 'failed'
			? 'failed'
			: one.state === 'live'
				? 'live'
				: one.state === 'opening'
					? 'opening'
					: '',
		one.duration_ns ? format.ns(one.duration_ns) : '',
		one.n_events ? `${format.count(one.n_events)} events` : '',
		one.size_bytes ? format.bytes(one.size_bytes) : '',
	]
		.filter(Boolean)
		.join(' · ');

async function upload(file: File): Promise<void> {
	say(`Sending ${file.name}, ${format.bytes(file.size)}.`);
	try {
		const made = await send<Session>('POST', `/sessions?name=${encodeURIComponent(file.name)}`, file);
		await loadSessions();
		go({ s: String(made.id) }, true);
	} catch (error) {
		say(sentence(error));
	}
}

export function Upload() {
	const input = useRef<HTMLInputElement>(null);

	return (
		<>
			<input
				ref={input}
				type="file"
				hidden
				onChange={event =>
					event.currentTarget.files?.[0] && upload(event.currentTarget.files[0])
				}
			/>
			<button onClick={() => input.current?.click()}>open a file</button>
		</>
	);
}

function Row({ one, close }: { one: Session; close: () => void }) {
	const [isNaming, setNaming] = useState(false);
	const compared = param('with').split(',').includes(String(one.id));

	const rename = async (name: string): Promise<void> => {
		setNaming(false);
		if (!name || name === one.name) return;
		try {
			await send('PATCH', `/sessions/${one.id}`, { name });
			await loadSessions();
		} catch (error) {
			say(sentence(error));
		}
	};
	return (
		<li aria-current={one.id === sessionId.value}>
			{isNaming ? (
				<input
					aria-label="New name"
					value={one.name}
					ref={node => node?.focus()}
					onBlur={event => rename(event.currentTarget.value.trim())}
					onKeyDown={event => event.key === 'Enter' && event.currentTarget.blur()}
				/>
			) : (
				<button
					class="pick"
					onClick={() => {
						go({ s: String(one.id), from: '', to: '', sel: '', range: '' }, true);
						close();
					}}
				>
					{one.name}
				</button>
			)}
			<span class="facts" title={one.message ?? ''}>
				{factsOf(one)}
			</span>
			<button
				class="plain"
				onClick={() => setNaming(true)}
				aria-label={`Rename ${one.name}`}
				title="Rename"
			>
				✎
			</button>
			{one.id !== sessionId.value && (
				<button
					aria-pressed={compared}
					onClick={() => {
						show('compare', { with: String(one.id) });
						close();
					}}
				>
					compare
				</button>
			)}
		</li>
	);
}

export function SessionMenu({ close }: { close: () => void }) {
	const menu = useRef<HTMLDivElement>(null);

	useEffect(() => {
		const away = (event: Event): void => {
			if (
				event instanceof KeyboardEvent
					? event.key === 'Escape'
					: !menu.current?.parentElement?.contains(event.target as Node)
			)
				close();
		};
		addEventListener('pointerdown', away);
		addEventListener('keydown', away);
		menu.current?.querySelector('button')?.focus();
		return () => {
			removeEventListener('pointerdown', away);
			removeEventListener('keydown', away);
		};
	}, []);
	return (
		<div class="menu" ref={menu} role="dialog" aria-label="Traces">
			<ul>
				{(sessions.value ?? []).map(one => (
					<Row key={one.id} one={one} close={close} />
				))}
			</ul>
			<footer>
				<Upload />
				<span class="quiet">A .sonde recording, or Chrome trace JSON (PyTorch, JAX, ONNX Runtime).</span>
			</footer>
		</div>
	);
}

export function NoSessions() {
	return (
		<div class="empty-view">
			<h2>No trace yet</h2>
			<p>Open a file here, or start the server with a file or a directory.</p>
			<Command text="sonde record -- ./train && sonde serve train.sonde" />
			<p class="command">
				<Upload />
			</p>
		</div>
	);
}
