// The whole state of the page in the address's fragment: #s=1&v=timeline&from=..&to=..; what is missing has its default.

export type Params = Record<string, string>;

export function parse(hash: string): Params {
	const params: Params = Object.create(null);
	for (const part of hash.replace(/^#/, '').split('&')) {
		const at = part.indexOf('=');
		if (at <= 0) continue;
		try {
			params[decodeURIComponent(part.slice(0, at))] = decodeURIComponent(
				part.slice(at + 1).replaceAll('+', ' '),
			);
		} catch {
			// not ours
		}
	}
	return params;
}

const ORDER = ['s', 'v'];

export function format(params: Params): string {
	const rank = (key: string): number => (ORDER.indexOf(key) + ORDER.length + 1) % (ORDER.length + 1);
	const keys = Object.keys(params)
		.filter(key => params[key] !== '')
		.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
	// Commas, dots and colons read better as they are and need no escape in a fragment.
	const encode = (text: string): string =>
		encodeURIComponent(text).replace(/%(2C|3A|2F|40)/g, code => decodeURIComponent(code));
	return keys.length ? '#' + keys.map(key => `${encode(key)}=${encode(params[key]!)}`).join('&') : '';
}

// A whole number of the address, or null.
export function integer(text: string | undefined): number | null {
	return text !== undefined && /^-?\d{1,16}$/.test(text) ? Number(text) : null;
}
