// Arguments as `sonde timeline` writes them into a file: templates, texts, and records of a template and its values.
import { bytesOf, Numbers } from './columns';

export interface ArgsData {
	templates: { pieces: string[]; kinds: number[] }[]; // kinds of the gaps between pieces: 0 a number, 1 a text
	texts: string[];
	bytes: string;
	is_whole: boolean; // who has none had none
}

export class Args {
	private readonly bytes: Uint8Array;
	private readonly at: number[] = []; // of each record

	constructor(private readonly data: ArgsData) {
		this.bytes = bytesOf(data.bytes);
		const numbers = new Numbers(this.bytes);
		while (numbers.at < this.bytes.length) {
			this.at.push(numbers.at);
			const gaps = data.templates[numbers.next()]?.kinds.length ?? 0;
			for (let i = 0; i < gaps; i++) numbers.next();
		}
	}

	// Of record n; null when it cannot be read. -1: there is none.
	get(n: number): Record<string, unknown> | null {
		if (n < 0) return this.data.is_whole ? {} : { '': 'not in this file' };
		const numbers = new Numbers(this.bytes, this.at[n] ?? this.bytes.length),
			template = this.data.templates[numbers.next()];
		if (!template) return null;
		const text = template.pieces
			.map((piece, i) => {
				const kind = template.kinds[i];
				if (kind === undefined) return piece;
				return (
					piece +
					(kind === 0 ? numbers.signed() : (this.data.texts[numbers.next()] ?? 'null'))
				);
			})
			.join('');
		try {
			return JSON.parse(text) as Record<string, unknown>;
		} catch {
			return null;
		}
	}
}
