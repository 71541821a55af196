/* The page of a timeline in a real browser: of a recording of a command, and of a document of ten thousand processes. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { crowd } from "../tests/crowd";
import { folder, launch, open, sonde } from "./chromium";

const place = folder();
const build = join(process.env["SONDE"] ?? "", "..");
const profiled = join(place.path, "profiled.html");
const crowded = join(place.path, "crowd.html");
let browser: Browser;

before(async () => {
	const recording = join(place.path, "p.sonde");

	sonde("profile", "-q", "--label", "a <b>label</b>", "-o", recording, "--", "sh", "-c",
		"sleep 0.6 & sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; : \"</script><img src=x onerror=alert(1)>\"' & wait");
	sonde("timeline", "-o", profiled, recording);
	writeFileSync(crowded, readFileSync(join(build, "web/timeline.html"), "utf8").replace("@DOCUMENT@",
		() => JSON.stringify(crowd(10000)).replaceAll("<", "\\u003c")));
	browser = await launch();
});

after(async () => {
	await browser?.close();
	place.remove();
});

/* Different colours in a part of the canvas, CSS pixels. */
async function colours(page: Page, x: number, y: number, width: number, height: number): Promise<string[]> {
	await settled(page);
	return page.evaluate(([left, top, right, bottom]) => {
		const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
		copy.canvas.width = right!;
		copy.canvas.height = bottom!;
		copy.drawImage(document.querySelector("canvas")!, -left!, -top!);
		const bytes = copy.getImageData(0, 0, right!, bottom!).data;
		const found = new Set<string>();

		for (let i = 0; i < bytes.length; i += 4)
			found.add(`${bytes[i]},${bytes[i + 1]},${bytes[i + 2]}`);
		return [...found];
	}, [x, y, width, height]);
}

/* What was asked for is painted: two frames later. */
async function settled(page: Page): Promise<void> {
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/* The moment under the pointer, as the tip has it: "05:06:28.1" in tenths. */
async function momentAt(page: Page, x: number, y: number): Promise<number> {
	await page.mouse.move(x, y);
	await page.mouse.move(x + 1, y);
	const [, hours, minutes, seconds] = /at(\d\d):(\d\d):(\d\d\.\d)/.exec((await page.locator(".tip").textContent()) ?? "") ?? [];

	return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

test("a profiled command: drawn, inert, without a request or a complaint", async () => {
	const { page, requests, complaints, close } = await open(browser, profiled);

	assert.equal(await page.locator("h1").textContent(), "a <b>label</b>");
	assert.ok((await colours(page, 320, 0, 600, 280)).length > 3, "the charts have lines");
	/* In light, running is #2f9e63. */
	assert.ok((await colours(page, 300, 280, 900, 200)).includes("47,158,99"), "a process ran");
	await page.locator(".scroll").focus();
	for (const key of ["Home", "ArrowDown", "Enter"])
		await page.keyboard.press(key);
	assert.match((await page.locator("aside").textContent()) ?? "", /pid\d+parent\d+.*CPU time/);
	await page.keyboard.press("Escape");
	assert.equal(await page.locator("aside").isVisible(), false);
	assert.equal(await page.locator("main img, main script, main b").count(), 0);
	assert.deepEqual(requests, []);
	assert.deepEqual(complaints, []);
	await close();
});

test("ten thousand processes: drawn, found, zoomed into by wheel, drag and keyboard", async () => {
	const { page, requests, complaints, close } = await open(browser, crowded, { viewport: { width: 1280, height: 800 } });
	const row = 300 + 60;

	assert.ok((await page.locator(".about").textContent())?.includes("10000 processes"));
	assert.ok((await colours(page, 320, 300, 900, 400)).length > 4);
	/* Its canvas is as large as what one sees. */
	assert.ok((await page.evaluate(() => document.querySelector("canvas")!.height)) < 1000);

	const left = await momentAt(page, 500, row), right = await momentAt(page, 900, row);
	await page.mouse.move(700, 120);
	await page.mouse.wheel(0, -400);
	await settled(page);
	const nearer = await momentAt(page, 500, row);
	assert.ok(left < nearer && nearer < right, "the wheel over the charts zooms to where it is");

	await page.mouse.move(600, 500);
	await page.mouse.down();
	await page.mouse.move(800, 500, { steps: 4 });
	await page.mouse.up();
	await settled(page);
	const dragged = (await momentAt(page, 900, row)) - (await momentAt(page, 500, row));
	assert.ok(dragged < (right - left) / 4, "a drag zooms to what it chose");

	await page.locator(".scroll").focus();
	await page.keyboard.press("0");
	await settled(page);
	assert.equal(await momentAt(page, 500, row), left, "0 shows all");
	await page.keyboard.press("+");
	await settled(page);
	assert.ok((await momentAt(page, 900, row)) - (await momentAt(page, 500, row)) < right - left, "plus zooms");

	await page.keyboard.press("/");
	await page.keyboard.type("job=9999 ");
	assert.equal(await page.locator(".found").textContent(), "1 found");
	await page.keyboard.press("Enter");
	await page.keyboard.press("Enter");
	assert.match((await page.locator("aside").textContent()) ?? "", /pid10999parent/);
	await page.locator("input").fill("");
	await page.locator(".scroll").focus();
	await page.keyboard.press("End");
	await settled(page);
	assert.ok((await page.evaluate(() => document.querySelector(".scroll")!.scrollTop)) > 190000, "the last of them is there");
	assert.deepEqual([requests, complaints], [[], []]);
	await close();
});

test("dark and light differ; a narrow screen has no horizontal scroll", async () => {
	const pages = [];

	for (const colorScheme of ["dark", "light"] as const) {
		const { page, complaints, close } = await open(browser, profiled, { colorScheme, viewport: { width: 360, height: 640 } });

		pages.push((await colours(page, 0, 0, 10, 10)).join());
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
		assert.deepEqual(complaints, []);
		await close();
	}
	assert.notEqual(pages[0], pages[1]);
});

test("a damaged document is told in a line", async () => {
	const file = join(place.path, "damaged.html");

	writeFileSync(file, readFileSync(profiled, "utf8").replace(/"until": \[/, '"until": [1e300, '));
	const { page, complaints, close } = await open(browser, file);

	assert.match((await page.locator(".error").textContent()) ?? "", /^This page is damaged: charts\.until\[1\]/);
	assert.deepEqual(complaints, []);
	await close();
});
