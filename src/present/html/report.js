/* Tables of a report: sorting, filtering, folding, copying. The page is whole without it. */
'use strict';

const FOLD = 30; /* rows that a table shows at first when nothing else was asked for */

/* The exact value of a cell, or its text. */
function valueOf(cell) {
	return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
}

function compare(a, b) {
	const isNumber = [typeof a === 'number', typeof b === 'number'];

	if (isNumber[0] && isNumber[1])
		return a - b;
	if (isNumber[0] !== isNumber[1]) /* what is unknown comes last when the largest come first */
		return isNumber[0] ? 1 : -1;
	return a < b ? -1 : a > b ? 1 : 0;
}

/* A cell as CSV; what a spreadsheet would run gets an apostrophe, as in --csv. */
function csvOf(cell) {
	if (cell.dataset.v !== undefined)
		return cell.dataset.v;
	let text = cell.textContent;

	if (text === '-')
		return '';
	if (/^[=+\-@\t\r]/.test(text))
		text = "'" + text;
	return /[",\r\n]/.test(text) || text.startsWith("'") ? '"' + text.replaceAll('"', '""') + '"' : text;
}

class Table {
	constructor(section, table) {
		this.table = table;
		this.rows = [...table.tBodies[0].rows];
		this.order = this.rows.slice();
		this.headers = [...table.tHead.rows[0].cells];
		this.count = section.querySelector('.count');
		this.input = section.querySelector('input');
		const shown = Number(table.dataset.shown);
		this.limit = shown > 0 && shown < this.rows.length ? shown : this.rows.length > 2 * FOLD ? FOLD : Infinity;
		this.headers.forEach((header, column) => header.dataset.key !== undefined && this.makeSortable(header, column));
		if (this.input) /* short tables have none */
			this.input.addEventListener('input', () => this.show());
		section.querySelector('.copy').addEventListener('click', event => this.copy(event.target));
		this.makeFold(section);
		this.makeKeys();
		this.show();
	}

	makeSortable(header, column) {
		const button = document.createElement('button');

		button.type = 'button';
		button.append(...header.childNodes);
		header.append(button);
		button.addEventListener('click', () => this.sort(header, column));
	}

	/* Numbers largest first, names from A on; again: the other way; a third time: as it was. */
	sort(header, column) {
		const first = header.classList.contains('n') ? 'descending' : 'ascending';
		const second = first === 'descending' ? 'ascending' : 'descending';
		const now = header.getAttribute('aria-sort');
		const next = now === null ? first : now === first ? second : null;

		this.headers.forEach(other => other.removeAttribute('aria-sort'));
		this.rows = this.order.slice();
		if (next) {
			const sign = next === 'ascending' ? 1 : -1;
			const keyed = this.rows.map(row => [valueOf(row.cells[column]), row]);

			keyed.sort((a, b) => sign * compare(a[0], b[0]));
			this.rows = keyed.map(pair => pair[1]);
			header.setAttribute('aria-sort', next);
		}
		this.table.tBodies[0].append(...this.rows);
		this.show();
	}

	makeFold(section) {
		this.fold = document.createElement('button');
		this.fold.type = 'button';
		this.fold.className = 'fold';
		this.fold.addEventListener('click', () => {
			this.isOpen = !this.isOpen;
			this.show();
		});
		section.querySelector('.scroll').after(this.fold);
	}

	makeKeys() {
		this.table.addEventListener('keydown', event => {
			const row = event.target.closest('tbody tr');
			const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
			let next = row && step ? row[step] : null;

			while (next && next.hidden)
				next = next[step];
			if (next) {
				next.focus();
				event.preventDefault();
			}
		});
	}

	show() {
		const wanted = this.input ? this.input.value.trim().toLowerCase() : '';
		let found = 0;

		for (const row of this.rows) {
			const matches = !wanted || row.textContent.toLowerCase().includes(wanted);

			row.hidden = !matches || (!wanted && !this.isOpen && found >= this.limit);
			row.tabIndex = -1;
			found += matches;
		}
		const visible = this.rows.find(row => !row.hidden);
		if (visible)
			visible.tabIndex = 0;
		this.fold.hidden = Boolean(wanted) || this.limit >= this.rows.length;
		this.fold.textContent = this.isOpen ? 'show fewer rows' : `show all ${this.rows.length.toLocaleString('en')} rows`;
		this.count.textContent = wanted ? `${found.toLocaleString('en')} of ${this.rows.length.toLocaleString('en')} rows`
			: `${this.rows.length.toLocaleString('en')} ${this.rows.length === 1 ? 'row' : 'rows'}`;
	}

	async copy(button) {
		const columns = this.headers.map((header, i) => header.dataset.key === undefined ? -1 : i).filter(i => i >= 0);
		const lines = [columns.map(i => this.headers[i].dataset.key).join(',')];

		for (const row of this.rows)
			lines.push(columns.map(i => csvOf(row.cells[i])).join(','));
		try {
			await navigator.clipboard.writeText(lines.join('\r\n') + '\r\n');
			button.textContent = 'copied';
		} catch {
			button.textContent = 'not allowed here';
		}
		setTimeout(() => { button.textContent = 'copy as CSV'; }, 1500);
	}
}

for (const section of document.querySelectorAll('section.table')) {
	const table = section.querySelector('table');

	if (table)
		new Table(section, table);
}
