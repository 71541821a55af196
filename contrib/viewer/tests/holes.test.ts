/* The points of a chart. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { lonely, withHoles } from "../src/common/holes";

const points = (time: number[], value: (number | null)[]) => ({ unit: "none", counted: "", time, value });

test("where points are missing there is a hole", () => {
	assert.deepEqual(withHoles(points([1, 2, 3, 7, 8], [1, 2, 3, 4, 5])), [[1, 2, 3, 5, 7, 8], [1, 2, 3, null, 4, 5]]);
});

test("a late tick is no hole", () => {
	assert.deepEqual(withHoles(points([10, 20, 42, 50], [1, 2, 3, 4])), [[10, 20, 42, 50], [1, 2, 3, 4]]);
});

test("what is no number is a hole, and few points are as they are", () => {
	assert.deepEqual(withHoles(points([1, 2, 3], [1, null, 3])), [[1, 2, 3], [1, null, 3]]);
	assert.deepEqual(withHoles(points([1, 50], [1, 2])), [[1, 50], [1, 2]]);
	assert.deepEqual(withHoles(points([1], [1])), [[1], [1]]);
	assert.deepEqual(withHoles(points([], [])), [[], []]);
});

test("what stands between holes is known", () => {
	assert.deepEqual(lonely([1, null, 2, 3, null, 4]), [0, 5]);
	assert.deepEqual(lonely([1]), [0]);
	assert.deepEqual(lonely([0, 0, null]), []);
	assert.deepEqual(lonely([]), []);
});
