/* Names that act on the text around them. Expected: what sonde's own <sonde/escape.h> makes of them on a terminal. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { visible } from "../src/common/text";

test("what hides is shown as its number", () => {
	assert.equal(visible("a\u001b[31m\n\t\r\u0007"), "a\\x1b[31m\\n\\t\\r\\x07");
	assert.equal(visible("\u202egpj.exe\u2066 \u200b\u2028\u0085\ufeff"), "\\u202egpj.exe\\u2066 \\u200b\\u2028\\u0085\\ufeff");
	assert.equal(visible("\u{e0001}"), "\\U000e0001");
});

test("what is seen stays as it is", () => {
	const text = "</script><img src=x onerror=alert(1)> \u05d0\u4e2d\u{1f600} \\";

	assert.equal(visible(text), text);
});
