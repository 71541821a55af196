/* The stretch of time that all charts show. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Range } from "../src/common/range";

function shown(range: Range): [number, number] {
	return [range.from, range.to];
}

test("it stays in the window and is never shorter than the least", () => {
	const range = new Range(60, 1);

	range.set(-10, 20);
	assert.deepEqual(shown(range), [0, 30]);
	range.set(50, 90);
	assert.deepEqual(shown(range), [20, 60]);
	range.set(30, 30.1);
	assert.deepEqual(shown(range), [29.55, 30.55]);
	range.set(-100, 100);
	assert.ok(range.whole);
});

test("keys zoom, move and show all", () => {
	const range = new Range(64, 1);
	const after = (...keys: string[]) => {
		range.reset();
		for (const key of keys)
			assert.ok(range.key(key));
		return shown(range);
	};

	assert.deepEqual(after("+"), [16, 48]);
	assert.deepEqual(after("+", "-"), [0, 64]);
	assert.deepEqual(after("=", "ArrowLeft"), [8, 40]);
	assert.deepEqual(after("+", "ArrowRight", "ArrowRight", "ArrowRight"), [32, 64]);
	assert.deepEqual(after("+", "Escape"), [0, 64]);
	assert.deepEqual(after("+", "+", "0"), [0, 64]);
	assert.equal(range.key("a"), false);
});

test("listeners hear of changes alone", () => {
	const range = new Range(60, 1);
	let heard = 0;

	range.onChange(() => heard++);
	range.reset();
	range.move(-1);
	assert.equal(heard, 0);
	range.show(10, 20);
	assert.deepEqual(shown(range), [9, 21]);
	assert.equal(heard, 1);
});

test("a window of one instant does no harm", () => {
	const range = new Range(0, 0.05);

	range.zoom(0.5);
	range.move(1);
	assert.deepEqual(shown(range), [0, 0]);
});
