/* The page of a report in a real browser: what sonde wrote into it, drawn, zoomed, by mouse and by keys, on a small screen. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { folder, launch, open, sonde } from "./chromium";

const place = folder();
let browser: Browser;

function demo(name: string): string {
	const file = join(place.path, `${name}.html`);

	sonde("demo", name, `--html=${file}`);
	return file;
}

before(async () => {
	browser = await launch();
});

after(async () => {
	await browser?.close();
	place.remove();
});

/* How many pixels of a canvas have something on them, and how many colours. */
function drawn(canvas: HTMLCanvasElement): { pixels: number; colours: number } {
	const data = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height).data;
	const colours = new Set<number>();
	let pixels = 0;

	for (let i = 0; i < data.length; i += 4)
		if (data[i + 3]) {
			pixels++;
			colours.add((data[i]! << 16) | (data[i + 1]! << 8) | data[i + 2]!);
		}
	return { pixels, colours: colours.size };
}

/* The text of the readout, once it is of that form. */
async function readout(page: Page, form: RegExp): Promise<string> {
	await page.locator(".readout", { hasText: form }).waitFor();
	return (await page.locator(".readout").textContent()) ?? "";
}

/* The two times that are shown, as seconds of the day. */
async function shown(page: Page): Promise<[number, number]> {
	const text = await readout(page, / to /);
	const times = [...text.matchAll(/(\d\d):(\d\d):(\d\d\.\d+)/g)].map(([, h, m, s]) => Number(h) * 3600 + Number(m) * 60 + Number(s));

	assert.equal(times.length, 2, text);
	return times as [number, number];
}

/* Waits for those times, to half a second. */
async function shows(page: Page, from: number, to: number): Promise<void> {
	const end = Date.now() + 60000;
	let now = await shown(page);

	while (Math.abs(now[0] - from) + Math.abs(now[1] - to) > 0.5) {
		assert.ok(Date.now() < end, `${now.join(" to ")}, not ${from} to ${to}`);
		now = await shown(page);
	}
}

async function scrollsSideways(page: Page): Promise<boolean> {
	return page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
}

for (const name of ["numa_misplaced", "cpu_saturated", "healthy"])
	test(`${name}: all of the document is there, without a request or a complaint`, async () => {
		const file = demo(name);
		const report = JSON.parse(sonde("demo", name, "--json").toString()) as {
			findings: { title: string; severity: string; evidence: unknown[] }[];
			series: { metric: string; value: number[] }[];
			metrics: { name: string }[];
		};
		const { page, requests, complaints, close } = await open(browser, file, { viewport: { width: 1280, height: 900 } });

		assert.equal(await page.title(), `demo ${name}: sonde report`);
		assert.deepEqual(await page.locator(".finding h3 bdi").allTextContents(), report.findings.map((each) => each.title));
		assert.deepEqual(await page.locator(".finding h3 .severity").allTextContents(), report.findings.map((each) => each.severity));
		assert.equal(await page.locator(".evidence tbody tr").count(), report.findings.flatMap((each) => each.evidence).length);
		assert.equal(await page.locator(".lane").count(), report.findings.length);
		assert.equal(await page.locator("table.metrics tbody tr").count(), report.metrics.length);
		assert.equal(await page.locator(".tile").count(), report.series.length);
		assert.equal(await page.locator("h2").count(), 7);

		/* Charts of what stayed 0 are drawn once they are opened. */
		for (const summary of await page.locator(".area summary").all())
			await summary.click();
		await page.locator(".tile canvas").nth(report.series.length - 1).waitFor({ state: "attached" });
		assert.equal(await page.locator(".tile canvas").count(), report.series.length);
		for (const canvas of await page.locator(".tile canvas").all()) {
			const { pixels, colours } = await canvas.evaluate(drawn);

			assert.ok(pixels > 500 && colours > 3, `${pixels} pixels of ${colours} colours`);
		}
		assert.deepEqual(requests, []);
		assert.deepEqual(complaints, []);
		await close();
	});

test("numbers are those of the text report", async () => {
	const { page, close } = await open(browser, demo("memory_pressure"));
	const text = sonde("demo", "memory_pressure").toString();
	/* "    mem.faults      30000 faults/s  /proc/vmstat pgfault" */
	const told = new Map([...text.matchAll(/^ {2}[-+ ] ([a-z][a-z0-9_.]*) +(\S.*?) {2}\/proc/gm)].map(([, name, value]) => [name!, value!]));
	const rows = await page.locator("table.metrics tbody tr").evaluateAll((lines) =>
		lines.map((line) => [...line.children].map((cell) => cell.textContent ?? "")));
	const on = new Map(rows.map(([name, value]) => [name!, value!]));

	assert.ok(told.size > 25, String(told.size));
	for (const [name, value] of told)
		assert.equal(on.get(name), value, name);
	await close();
});

test("a drag over one chart zooms all; a double click shows all again", async () => {
	const { page, complaints, close } = await open(browser, demo("oom"), { viewport: { width: 1280, height: 900 } });
	const charts = page.locator(".tile .u-over");
	const before = await page.locator(".tile canvas").nth(5).evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
	const whole = await shown(page);

	assert.equal(whole[1] - whole[0], 60);
	await charts.nth(1).scrollIntoViewIfNeeded();
	const box = (await charts.nth(1).boundingBox())!;
	await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 25, { steps: 4 });
	await page.mouse.up();
	await page.mouse.move(box.x, box.y - 300);
	/* A pixel is a fifth of a second. */
	await shows(page, whole[0] + 15, whole[0] + 30);
	await page.waitForFunction(([was]) => {
		const canvas = document.querySelectorAll<HTMLCanvasElement>(".tile canvas")[5];

		return canvas && canvas.toDataURL() !== was;
	}, [before]);

	await charts.nth(1).dblclick();
	await page.mouse.move(box.x, box.y - 300);
	await shows(page, ...whole);
	assert.deepEqual(complaints, []);
	await close();
});

test("the cursor tells time and value on every chart", async () => {
	/* Wherever the browser is. */
	const { page, close } = await open(browser, demo("cpu_saturated"), { timezoneId: "Asia/Kathmandu", viewport: { width: 1280, height: 900 } });
	const tile = page.locator("[id='chart-cpu.utilisation']");

	await tile.locator(".u-over").hover({ position: { x: 100, y: 30 } });
	await readout(page, /^09:00:\d\d\.\d UTC, \+\d+\.\d s$/);
	await page.locator(".value.at").nth(20).waitFor();
	/* 32 CPUs that are busy all the time (framework/demo/scenarios.c). */
	assert.equal(await tile.locator(".value.at").textContent(), "100.0 %");
	await close();
});

test("a finding leads to its stretch of time", async () => {
	const recording = join(place.path, "oom.sonde"), file = join(place.path, "until.html");

	/* Until the 20th second, processes were killed in the 4th and the 15th. */
	sonde("demo", "oom", "-o", recording);
	sonde("report", "--until", "20s", `--html=${file}`, recording);
	const { page, close } = await open(browser, file, { viewport: { width: 1280, height: 900 } });
	const card = page.locator(".finding", { hasText: "mem.oom" }).first();
	const lane = page.locator(".lane", { hasText: "mem.oom" });
	const [begin] = await shown(page);

	await card.locator("button.zoom").click();
	/* With a tenth of it before and after. */
	await shows(page, begin + 4 - 1.1, begin + 15 + 1.1);
	assert.equal(await lane.getAttribute("aria-pressed"), "true");
	assert.ok(await page.locator(".tools").evaluate((tools) => tools.getBoundingClientRect().top < innerHeight));
	await page.getByRole("button", { name: /whole window/ }).click();
	assert.equal(await lane.getAttribute("aria-pressed"), "false");
	await lane.click();
	assert.equal(await lane.getAttribute("aria-pressed"), "true");
	await close();
});

test("keys alone do all of it", async () => {
	const { page, close } = await open(browser, demo("oom"), { viewport: { width: 1280, height: 900 } });
	const whole = await shown(page);
	const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");
	let steps = 0;

	while (!(await focused()).startsWith("Zoom in") && steps++ < 300)
		await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	await shows(page, whole[0] + 15, whole[0] + 45);
	await page.keyboard.press("+");
	await shows(page, whole[0] + 22.5, whole[0] + 37.5);
	await page.keyboard.press("ArrowLeft");
	await shows(page, whole[0] + 18.75, whole[0] + 33.75);
	await page.keyboard.press("-");
	await shows(page, whole[0] + 11.25, whole[0] + 41.25);
	await page.keyboard.press("Escape");
	await shows(page, ...whole);
	while (!(await focused()).startsWith("mem.oom") && steps++ < 300)
		await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	assert.equal(await page.locator(".lane[aria-pressed=true]").count(), 1);
	await close();
});

test("a narrow screen scrolls downwards alone", async () => {
	for (const name of ["numa_misplaced", "healthy"]) {
		const { page, complaints, close } = await open(browser, demo(name), { viewport: { width: 360, height: 700 } });

		assert.equal(await scrollsSideways(page), false);
		for (const summary of await page.locator("summary").all())
			await summary.click();
		assert.equal(await scrollsSideways(page), false);
		const widths = await page.locator(".tile .uplot").evaluateAll((charts) => charts.map((chart) => chart.getBoundingClientRect().right));
		assert.ok(widths.length > 40 && widths.every((right) => right <= 360));
		assert.deepEqual(complaints, []);
		/* Turned on its side. */
		await page.setViewportSize({ width: 700, height: 360 });
		assert.equal(await scrollsSideways(page), false);
		await close();
	}
});

test("dark and light are different, charts as well, and change while it is open", async () => {
	const { page, close } = await open(browser, demo("cpu_saturated"), { colorScheme: "light", viewport: { width: 1000, height: 700 } });
	const look = () => page.evaluate(() => {
		const style = getComputedStyle(document.body), canvas = document.querySelector<HTMLCanvasElement>(".tile canvas");

		return [style.backgroundColor, style.color, canvas?.toDataURL() ?? ""];
	});
	const light = await look();

	await page.emulateMedia({ colorScheme: "dark" });
	await page.waitForFunction((was) => document.querySelector<HTMLCanvasElement>(".tile canvas")?.toDataURL() !== was, light[2]);
	const dark = await look();
	assert.equal(light[0], "rgb(246, 247, 249)");
	assert.equal(dark[0], "rgb(16, 20, 26)");
	assert.notEqual(light[1], dark[1]);
	await close();
});

test("names that are markup, or turn the text around, are text", async () => {
	const file = join(place.path, "hostile.html"), recording = join(place.path, "hostile.sonde");
	const label = "</script><!--<script>\u202e<img src=x onerror=document.title='owned'>";
	const config = join(place.path, "strict.ini");
	/* Its name is an element; each turn touches new memory, so that it has a finding by that name. */
	const child = spawn("bash", ["-c", "printf %s '<img/onerror=1>' > /proc/$$/comm; while :; do printf -v x %4000000s; unset x; done"], { stdio: "ignore" });

	try {
		sonde("record", "-q", "-i", "100ms", "-d", "3", "-p", String(child.pid), "--label", label, "-o", recording);
	} finally {
		child.kill("SIGKILL");
	}
	writeFileSync(config, "[analyzer:memory]\nminor_faults = 1\n");
	sonde("report", "-c", config, `--html=${file}`, recording);
	const { page, requests, complaints, close } = await open(browser, file);

	assert.match(await page.title(), /\\u202e/);
	assert.equal(await page.locator("h1 .label").textContent(), label.replace("\u202e", "\\u202e"));
	assert.ok((await page.locator(".finding bdi", { hasText: `process ${child.pid} (<img/onerror=1>)` }).count()) > 0);
	assert.equal(await page.locator("img").count(), 0);
	assert.equal(await page.locator("script").count(), 2);
	assert.deepEqual(requests, []);
	assert.deepEqual(complaints, []);
	await close();
});

test("the policy stops what it should, where anything got in", async () => {
	const file = demo("healthy");
	const { page, requests, complaints, close } = await open(browser, file);

	/* As if text had been taken for markup. */
	await page.evaluate(() => {
		const box = document.createElement("div");

		box.innerHTML = "<img src=http://127.0.0.1:9/x onerror=\"document.title='owned'\"><p style='color: red'>";
		document.body.append(box);
		const script = document.createElement("script");

		script.textContent = "document.title = 'owned'";
		document.body.append(script);
	});
	await page.waitForFunction(() => document.querySelector("img")?.complete);
	assert.notEqual(await page.title(), "owned");
	assert.ok(complaints.filter((text) => text.includes("Content Security Policy")).length >= 3, complaints.join("\n"));
	assert.deepEqual(requests.filter((url) => !url.startsWith("http://127.0.0.1:9/")), []);
	await close();
});

test("of one instant there is a page without charts", async () => {
	const file = join(place.path, "instant.html"), recording = join(place.path, "instant.sonde");

	sonde("record", "-q", "--max-frames", "1", "-o", recording);
	sonde("report", `--html=${file}`, recording);
	const { page, complaints, close } = await open(browser, file);

	assert.equal(await page.locator("h2").count(), 7);
	assert.match((await page.locator("#charts").textContent()) ?? "", /Nothing has a course/);
	assert.equal(await page.locator("canvas").count(), 0);
	assert.deepEqual(complaints, []);
	await close();
});

test("without scripts it says how to get the text", async () => {
	const { page, close } = await open(browser, demo("healthy"), { javaScriptEnabled: false });

	assert.match((await page.locator("noscript").textContent()) ?? "", /sonde report FILE/);
	await close();
});

test("the empty page says what it is for", async () => {
	const { page, complaints, close } = await open(browser, "pages/report.html");

	assert.match((await page.locator("main").textContent()) ?? "", /sonde report --html/);
	assert.deepEqual(complaints, []);
	await close();
});

test("it is small, and has no address in it to go to", () => {
	assert.ok(statSync("pages/report.html").size < 200 * 1024);
	const page = readFileSync("pages/report.html", "utf8");

	assert.deepEqual([...page.matchAll(/\b(?:src|href)\s*=\s*["']?(?!data:)[^#"'\s>]+/g)].map(([text]) => text), []);
});
