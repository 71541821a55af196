/* Numbers and durations, as the text report says them: what is expected stands in tests/unit/report_test.c too, or is what
 * printf(1) prints. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fixed, sayDuration, sayValue } from "../src/common/units";

test("values in units that people read", () => {
	const cases: [number | bigint | null, string, string, string][] = [
		[0.123456, "ratio", "", "12.3 %"],
		[0.00012, "ratio", "", "0.012 %"],
		[0, "ratio", "", "0.0 %"],
		[1, "ratio", "", "100.0 %"],
		[4200000, "ns", "", "4.20 ms"],
		[90e9, "ns", "", "90.0 s"],
		[999, "ns", "", "999 ns"],
		[0, "ns", "", "0 ns"],
		[3 * 2 ** 30, "bytes", "", "3.00 GiB"],
		[2097152, "bytes", "/s", "2.00 MiB/s"],
		[3.2e9, "hz", "", "3.20 GHz"],
		[12345.6, "count", "faults/s", "12346 faults/s"],
		[0.5, "count", "tasks", "0.500 tasks"],
		[7, "none", "", "7.00"],
		[-5.25, "celsius", "", "-5.25 celsius"],
		[null, "ratio", "", "-"],
		[9007199254740993n, "count", "pages", "9007199254740993 pages"],
		[2e22, "count", "pages", "20000000000000000000000 pages"],
	];

	for (const [value, unit, counted, expected] of cases)
		assert.equal(sayValue(value, unit, counted), expected);
});

test("decimals are those of printf", () => {
	const values = [0.5, 1.5, 2.5, -0.5, -2.5, 100.5, 101.5, 12.25, 12.35, 12.75, 0.125, 0.375, 1.45, 1.005, 99.95, 0.0005, 123456.5, 1e21];

	for (const value of values)
		for (const decimals of [0, 1, 2, 3]) {
			/* printf(1) reads a long double: the double's own digits, all of them. */
			const digits = Math.abs(value) < 1e21 ? value.toFixed(60) : String(BigInt(value));
			const printed = execFileSync("printf", [`%.${decimals}f`, digits], { env: { LC_ALL: "C", PATH: process.env["PATH"] }, encoding: "utf8" });

			assert.equal(fixed(value, decimals), Math.abs(value) < 1e21 ? printed : printed.split(".")[0], `${value} ${decimals}`);
		}
});

test("durations", () => {
	assert.equal(sayDuration(5), "5.0 s");
	assert.equal(sayDuration(119.4), "119.4 s");
	assert.equal(sayDuration(125), "2 min 5 s");
	assert.equal(sayDuration(86400), "24 h 0 min");
});
