/* Times of the recorded host, wherever the page is read: expected ones are date(1)'s. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock, sayMarks, sayMoment, timeMarks } from "../src/common/clock";

/* TZ=Asia/Kathmandu date -d @1700000000.25: 2023-11-15 03:58:20 +0545 */
const KATHMANDU = "2023-11-15T03:58:20.250000+05:45";

test("a moment is what it says, whatever zone this is", () => {
	for (const zone of ["UTC", "America/St_Johns", "Pacific/Kiritimati"]) {
		process.env["TZ"] = zone;
		const clock = new Clock(KATHMANDU);

		assert.equal(sayMoment(KATHMANDU, true), "2023-11-15 03:58:20.2");
		assert.equal(sayMoment("2026-01-05T09:00:00.000000Z", false), "09:00:00.0");
		assert.equal(clock.zone, "+05:45");
		assert.equal(clock.day(0), "2023-11-15");
		assert.equal(clock.time(0), "03:58:20.2");
		assert.equal(clock.time(72099.74, 0), "23:59:59");
		assert.equal(clock.day(72099.74), "2023-11-15");
		assert.equal(clock.day(72099.75), "2023-11-16");
	}
	delete process.env["TZ"];
});

test("what is no moment is not known", () => {
	assert.equal(sayMoment(null, true), "unknown");
	assert.equal(new Clock(null).known, false);
	assert.deepEqual(sayMarks(new Clock(null), timeMarks(new Clock(null), 0, 10, 3)), ["+0", "+5", "+10"]);
});

test("marks are on round times of that clock", () => {
	const clock = new Clock(KATHMANDU);
	const texts = (from: number, to: number, most: number) => sayMarks(clock, timeMarks(clock, from, to, most));

	assert.deepEqual(texts(0, 60, 5), ["03:58:30", "03:58:45", "03:59:00", "03:59:15"]);
	assert.deepEqual(texts(0, 3600, 4), ["04:00", "04:15", "04:30", "04:45"]);
	assert.deepEqual(texts(0, 1, 5), ["03:58:20.4", "03:58:20.6", "03:58:20.8", "03:58:21.0", "03:58:21.2"]);
	assert.deepEqual(texts(0.001, 0.045, 5), ["03:58:20.26", "03:58:20.27", "03:58:20.28", "03:58:20.29"]);
	assert.deepEqual(texts(0, 4 * 86400, 4), ["2023-11-16", "2023-11-17", "2023-11-18", "2023-11-19"]);
	for (const [from, to] of [[0, 1e-3], [5, 86400 * 400], [1e6, 1e6 + 7]] as const) {
		const marks = timeMarks(clock, from, to, 4);

		assert.ok(marks.length >= 1 && marks.length <= 6, String(marks));
		assert.ok(marks.every((mark) => mark >= from && mark <= to));
	}
});
