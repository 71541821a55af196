/* Text of kernel, peer or file as people may see it: what acts on the text around it instead of being seen is shown as its
 * number, as <sonde/escape.h> does for terminals. */

/* The Unicode Standard's categories of control, format and separating characters; tags, assigned or not. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu;
const NAMED: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

function numbered(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	const hex = code.toString(16);

	if (code < 0x80)
		return `\\x${hex.padStart(2, "0")}`;
	return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

export function visible(text: string): string {
	return text.replace(HIDDEN, (character) => NAMED[character] ?? numbered(character));
}
