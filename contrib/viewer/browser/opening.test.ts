/* How long it takes to open ten minutes of a build of 5,000 processes at 10 Hz: told, and not judged, since machines differ; what
 * does not differ is. */
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { build } from "./build";
import { folder, launch, open, sonde } from "./chromium";

const place = folder();
const fixture = join(place.path, "build.json"), recording = join(place.path, "build.sonde"), filled = join(place.path, "build.html");
const empty = join(process.env["SONDE"] ?? "", "../web/timeline.html");
let browser: Browser;

before(async () => {
	writeFileSync(fixture, build(5000));
	sonde("replay", "-o", recording, fixture);
	sonde("timeline", "-o", filled, recording);
	browser = await launch();
});

after(async () => {
	await browser?.close();
	place.remove();
});

/* Texts and rectangles of one drawing of the whole stretch of time. */
async function drawn(page: Page): Promise<{ texts: number; rects: number }> {
	return page.evaluate(async () => {
		const made = { texts: 0, rects: 0 }, of = CanvasRenderingContext2D.prototype, { fillText, fillRect } = of;

		of.fillText = function (...words) {
			made.texts++;
			return fillText.apply(this, words);
		};
		of.fillRect = function (...words) {
			made.rects++;
			return fillRect.apply(this, words);
		};
		document.querySelector(".scroll")!.dispatchEvent(new Event("scroll"));
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
		Object.assign(of, { fillText, fillRect });
		return made;
	});
}

test("as a page", async (t) => {
	const { page, complaints, close } = await open(browser, filled, { viewport: { width: 1280, height: 800 } });

	await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length);
	const [painted, parsed] = await page.evaluate(() => [
		performance.getEntriesByName("first-contentful-paint")[0]!.startTime,
		(performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming).responseEnd,
	]);
	t.diagnostic(`${(statSync(filled).size / 1e6).toFixed(1)} MB are read after ${parsed!.toFixed(0)} ms and painted after ${painted!.toFixed(0)} ms`);
	const { texts, rects } = await drawn(page);
	t.diagnostic(`a drawing has ${texts} texts and ${rects} rectangles`);
	/* Some 25 rows have room, each with a name and a pid, and no more stretches than pixels of each state. */
	assert.ok(texts > 40 && texts < 120, `${texts} texts`);
	assert.ok(rects < 25 * 1000 * 4, `${rects} rectangles`);
	assert.deepEqual(complaints, []);
	await close();
});

test("dropped as a recording", async (t) => {
	const { page, complaints, close } = await open(browser, empty, { viewport: { width: 1280, height: 800 } });

	assert.ok(statSync(recording).size < 20e6);
	await page.evaluate(() => {
		const begin = performance.now();

		new MutationObserver((_, observer) => {
			if (!document.querySelector("header h1"))
				return;
			observer.disconnect();
			requestAnimationFrame(() => requestAnimationFrame(() => (document.title = `${performance.now() - begin} ms`)));
		}).observe(document.body, { childList: true, subtree: true });
	});
	await page.locator("input[type=file]").setInputFiles(recording);
	await page.waitForFunction(() => / ms$/.test(document.title));
	t.diagnostic(`${(statSync(recording).size / 1e6).toFixed(1)} MB are decoded and painted after ${parseFloat(await page.title()).toFixed(0)} ms`);
	const { tables } = JSON.parse(readFileSync(fixture, "utf8")) as { tables: { rows: unknown[] }[] };
	assert.ok((await page.locator(".about").textContent())?.includes(` ${tables[0]!.rows.length} processes`));
	assert.deepEqual(complaints, []);
	await close();
});
