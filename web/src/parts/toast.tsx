// What the page just did, in a sentence.
import { message } from '../state/app';

export function Toast() {
	return (
		<div role="status" aria-live="polite">
			{message.value && <div class="toast">{message.value}</div>}
		</div>
	);
}
