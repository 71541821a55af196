/* Colours for what is drawn on a canvas: those of the style sheet, which knows whether it is dark. */

const dark = matchMedia("(prefers-color-scheme: dark)");
const known = new Map<string, string>();

/* Of a custom property: "line" is --line. */
export function colour(name: string): string {
	let value = known.get(name);

	if (value === undefined) {
		value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
		known.set(name, value);
	}
	return value;
}

/* Calls back when all of them are others. */
export function onTheme(listener: () => void): void {
	dark.addEventListener("change", () => {
		known.clear();
		listener();
	});
}
