/* JSON (RFC 8259) with its integers exact: those that a double cannot hold (above 2^53) become BigInt. */

const MARK = "\u0000integer ";
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG = /^-?\d{16,}$/;
/* Something that may be such a token: an integer between two others, in a string or not. */
const ANY_LONG = /(?:^|[[:,\s])-?\d{16,}(?:[\],}\s]|$)/;

/* The value of a document. Throws SyntaxError where it is none. */
export function parseExact(text: string): unknown {
	/* Most documents have none, and are large. */
	if (!ANY_LONG.test(text))
		return JSON.parse(text);
	/* Strings are passed over by the same expression, so that no digits in them are taken. */
	const marked = text.replace(TOKENS, (token) =>
		LONG.test(token) && !Number.isSafeInteger(Number(token)) ? JSON.stringify(MARK + token) : token,
	);
	if (marked.length === text.length)
		return JSON.parse(text);
	return JSON.parse(marked, (_key, value: unknown) =>
		typeof value === "string" && value.startsWith(MARK) && /^-?\d+$/.test(value.slice(MARK.length))
			? BigInt(value.slice(MARK.length))
			: value,
	);
}
