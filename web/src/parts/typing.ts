// Keys belong to what is typed into.
export const isTyping = (event: KeyboardEvent): boolean =>
	event.target instanceof HTMLElement &&
	(event.target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName));
