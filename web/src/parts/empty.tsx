// What stands where nothing is to be shown: what would fill it, or what went wrong.
import { useEffect, useState } from 'preact/hooks';
import { copy } from '../state/app';

export function Command({ text }: { text: string }) {
	return (
		<div class="command">
			<code>{text}</code>
			<button onClick={() => copy(text, 'the command')}>copy</button>
		</div>
	);
}

export function Empty({ title, text, command }: { title: string; text: string; command?: string | null }) {
	return (
		<div class="empty-view">
			<h2>{title}</h2>
			<p>{text}</p>
			{command && <Command text={command} />}
		</div>
	);
}

export function Failed({ title, text }: { title: string; text: string }) {
	return (
		<div class="error-view" role="alert">
			<h2>{title}</h2>
			<p>{text}</p>
		</div>
	);
}

// Nothing at first: what comes quickly should not flash.
export function Waiting({ text }: { text: string | null }) {
	const [isSlow, setSlow] = useState(false);

	useEffect(() => {
		const timer = setTimeout(() => setSlow(true), 300);
		return () => clearTimeout(timer);
	}, []);
	return isSlow ? <div class="empty-view quiet">{text ?? 'Loading.'}</div> : null;
}
