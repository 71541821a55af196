/* Recordings in the browser: what it decodes is what sonde prints, and the page that one drops them on. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { parseExact } from "../src/common/json";
import { instantsOf } from "../src/decode/recording";
import type { Charts, Process, Series } from "../src/timeline/document";
import { load } from "../src/timeline/load";
import { folder, launch, open, sonde } from "./chromium";

const place = folder();
const recording = join(place.path, "p.sonde");
const empty = join(process.env["SONDE"] ?? "", "../web/timeline.html");
let browser: Browser;

before(async () => {
	sonde("profile", "-q", "-i", "20ms", "--label", "dropped", "-o", recording, "--", "sh", "-c",
		"for i in 1 2 3 4 5 6; do sh -c 'sleep 0.2; exit 3' & done; i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; wait");
	browser = await launch();
});

after(async () => {
	await browser?.close();
	place.remove();
});

/* BigInts as the digits that they are. */
function line(value: unknown): string {
	return JSON.stringify(value, (_key, each: unknown) => (typeof each === "bigint" ? String(each) : each));
}

test("every row is the one that sonde cat --json prints", () => {
	const printed: string[] = [], decoded: string[] = [];

	for (const text of sonde("cat", "--json", recording).toString().trimEnd().split("\n")) {
		const row = parseExact(text) as Record<string, unknown>;

		printed.push(line([String(row["sequence"]), String(row["boottime"]), String(row["time"]), row["instance"], row["table"], row["keys"], row["values"]]));
	}
	for (const { sequence, begin, time, tables } of instantsOf(readFileSync(recording)))
		for (const table of tables)
			for (const row of table.rows.values()) {
				const { keys, values } = table.fields(row);

				decoded.push(line([String(sequence), String(begin), String(time), table.instance, table.name, keys, values]));
			}
	assert.ok(printed.length > 500);
	assert.deepEqual(decoded.sort(), printed.sort());
});

test("its processes are those of sonde timeline that samples saw", () => {
	const { processes } = JSON.parse(sonde("timeline", "--json", recording).toString()) as { processes: Process[] };
	const made = load(readFileSync(recording)).timeline.processes;
	const byPid = new Map(processes.map((each) => [each.pid, each]));

	/* Two lanes of collectors: what came first and what began first may be two. A birth's event tells its moment, a sample the clock
	 * tick of 10 ms that it was in. */
	const skew = made[0]!.start - byPid.get(made[0]!.pid)!.start;

	assert.ok(made.length >= 7 && Math.abs(skew) < 0.5);
	for (const each of made) {
		const told = byPid.get(each.pid)!;

		assert.deepEqual([each.name, each.command, each.ppid, each.exit_status], [told.name, told.command, told.ppid, told.exit_status]);
		assert.ok(Math.abs(each.start - told.start - skew) < 0.021, `${each.start} ${told.start} ${skew}`);
		assert.ok(each.cpu === null || told.cpu === null || each.cpu <= told.cpu + 0.011);
	}
});

/* Of all stretches: what a chart counts. */
function wholeOf({ begin, until }: Charts, series: Series): number {
	return series.value.reduce<number>((sum, value, i) => sum + (value ?? 0) * (until[i]! - (i ? until[i - 1]! : begin)), 0);
}

test("its charts are those of sonde timeline", () => {
	const { charts } = JSON.parse(sonde("timeline", "--json", recording).toString()) as { charts: Charts };
	const made = load(readFileSync(recording)).timeline.charts;
	const said = ({ value: _, origin: __, ...words }: Series) => words;

	assert.deepEqual(made.series.map(said), charts.series.map(said));
	for (const series of made.series)
		assert.equal(series.value.length, made.until.length);
	/* No more than the counter grew by from its first sample to its last; values are rounded to a thousandth. */
	const machine = made.series.find((each) => each.name === "machine_cpu")!;
	const busy = sonde("cat", "--json", "--table", "stat", recording).toString().trimEnd().split("\n").map((text) => {
		const { values } = JSON.parse(text) as { values: Record<string, number> };

		return ["user", "nice", "system", "irq", "softirq"].reduce((sum, name) => sum + values[name]!, 0) / 100;
	});

	assert.ok(machine.value.some((value) => value !== null));
	assert.ok(wholeOf(made, machine) <= busy.at(-1)! - busy[0]! + 0.001 * (made.until.at(-1)! - made.begin));
});

test("dropped, it is drawn; what is wrong with it is told", async () => {
	const { page, requests, complaints, close } = await open(browser, empty);
	const broken = join(place.path, "broken.sonde"), whole = readFileSync(recording);

	writeFileSync(broken, "not a recording");
	await page.locator("input[type=file]").setInputFiles(broken);
	await page.locator(".error", { hasText: "broken.sonde: this is no recording" }).waitFor();
	/* Killed before the last bytes of the segment in front of the index. */
	writeFileSync(broken, whole.subarray(0, whole.lastIndexOf(Uint8Array.of(0x54, 0x2a, 0x4d, 0x18)) - 2));
	await page.locator("input[type=file]").setInputFiles(broken);
	await page.locator("header h1", { hasText: "dropped" }).waitFor();
	assert.equal(await page.locator(".problem").textContent(), "it was cut off: what was whole was read");
	await page.reload();
	await page.locator("input[type=file]").setInputFiles(recording);
	await page.locator("header h1", { hasText: "dropped" }).waitFor();
	assert.match((await page.locator(".about").textContent()) ?? "", / · \d+ processes/);
	assert.equal(await page.locator(".problem").count(), 0);
	assert.deepEqual(requests.filter((each) => !each.startsWith("file:")), []);
	assert.deepEqual(complaints, []);
	await close();
});
