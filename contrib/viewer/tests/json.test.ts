/* Documents with integers that a double cannot hold. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseExact } from "../src/common/json";

test("integers above 2^53 keep their digits", () => {
	const text = '{"a": 9007199254740993, "b": -18446744073709551615, "c": [9007199254740991, 12]}';

	assert.deepEqual(parseExact(text), {
		a: 9007199254740993n,
		b: -18446744073709551615n,
		c: [9007199254740991, 12],
	});
});

test("wherever they stand", () => {
	const long = 9007199254740993n;

	for (const text of ["9007199254740993", " 9007199254740993\n", "[9007199254740993]", "[0,9007199254740993,0]", "[\n9007199254740993\t]"])
		assert.deepEqual([parseExact(text)].flat().filter((each) => each !== 0), [long], text);
	assert.deepEqual(parseExact('{"a":-9007199254740993}'), { a: -long });
	assert.equal(parseExact('" 9007199254740993 "'), " 9007199254740993 ");
});

test("other numbers are as JSON.parse has them", () => {
	const text = "[1.2345678901234567e+19, 0.1234567890123456789, -0.5, 1e300, 12345678901234567.5]";

	assert.deepEqual(parseExact(text), JSON.parse(text));
});

test("digits in strings and keys are no numbers", () => {
	const document = {
		"9007199254740993": 'quote " 9007199254740993',
		"back\\": "\\",
		"x": ", 9007199254740993 ]",
		"y": "\u0000integer 12345678901234567x",
	};

	assert.deepEqual(parseExact(JSON.stringify(document)), document);
	assert.deepEqual(parseExact(`[${JSON.stringify(document)}, 9007199254740993]`), [document, 9007199254740993n]);
});

test("what is no JSON is an error", () => {
	assert.throws(() => parseExact('{"a": 9007199254740993,}'), SyntaxError);
	assert.throws(() => parseExact(""), SyntaxError);
});
