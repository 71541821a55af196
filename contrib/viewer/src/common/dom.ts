/* Elements, made of text alone: no string is ever read as HTML. */
import { visible } from "./text";

export type Child = Node | string | null | undefined | false;

/* An element with its class and what is in it; strings become text, what hides in them is shown. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
	tag: Tag,
	className: string,
	...children: Child[]
): HTMLElementTagNameMap[Tag] {
	const element = document.createElement(tag);

	if (className)
		element.className = className;
	for (const child of children)
		if (child)
			element.append(typeof child === "string" ? visible(child) : child);
	return element;
}

/* Foreign text: a name may be written from right to left, and turns nothing around it. */
export function foreign(className: string, text: string): HTMLElement {
	return make("bdi", className, text);
}

export function button(className: string, label: string, act: () => void, ...children: Child[]): HTMLButtonElement {
	const element = make("button", className, ...children);

	element.type = "button";
	element.setAttribute("aria-label", visible(label));
	element.title = visible(label);
	element.addEventListener("click", act);
	return element;
}

export function link(to: string, ...children: Child[]): HTMLAnchorElement {
	const element = make("a", "", ...children);

	element.setAttribute("href", `#${encodeURIComponent(to)}`);
	return element;
}

/* A section that the page's list of contents names. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
	const element = make("section", "", make("h2", "", title), ...children);

	element.id = id;
	return element;
}

/* A table in a box that scrolls where it is too wide for the screen. A head that begins with > is of numbers. */
export function table(className: string, caption: string, heads: string[], rows: Child[][]): HTMLElement {
	const numbers = heads.map((head) => head.startsWith(">"));
	const cell = (child: Child, i: number) => make("td", numbers[i] ? "number" : "", child);
	const head = make("tr", "");
	const body = make("tbody", "", ...rows.map((row) => make("tr", "", ...row.map(cell))));

	heads.forEach((text, i) => {
		const th = make("th", numbers[i] ? "number" : "", text.replace(/^>/, ""));

		th.scope = "col";
		head.append(th);
	});
	const box = make("div", "scroll", make("table", className, make("caption", "", caption), make("thead", "", head), body));

	/* What scrolls has to be reached by keys. */
	box.tabIndex = 0;
	box.setAttribute("role", "region");
	box.setAttribute("aria-label", caption);
	return box;
}

/* Names and what they are; those without text are left out. */
export function facts(className: string, items: [name: string, text: Child][]): HTMLElement {
	const list = make("dl", className);

	for (const [name, text] of items)
		if (text)
			list.append(make("dt", "", name), make("dd", "", text));
	return list;
}

/* The document that sonde put into this page; null where it is the empty template. Throws SyntaxError where it is damaged. */
export function embedded(parse: (text: string) => unknown): unknown {
	const text = document.getElementById("document")?.textContent ?? "";

	return text.trim() === "" || text.trim().startsWith("@") ? null : parse(text);
}
