/* What others open: speedscope's own schema and speedscope itself, in the browser. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import Ajv from "ajv";
import type { Browser } from "playwright-core";
import { folder, launch, sonde } from "./chromium";

const place = folder();
const LABEL = 'a "label" </script>';
const SPEEDSCOPE = "node_modules/speedscope/dist/release";

interface Scope {
	profiles: { name: string; type: string }[];
	shared: { frames: { name: string }[] };
}

let browser: Browser;
let text: string;

before(async () => {
	const recording = join(place.path, "p.sonde");

	sonde("profile", "-q", "-i", "20ms", "--label", LABEL, "-o", recording, "--", "sh", "-c",
		"sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' & sleep 0.2; wait");
	text = sonde("timeline", "--speedscope", recording).toString();
	browser = await launch();
});

after(async () => {
	await browser?.close();
	place.remove();
});

test("speedscope's schema takes it", () => {
	const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(`${SPEEDSCOPE}/file-format-schema.json`, "utf8")) as object);
	const scope = JSON.parse(text) as Scope;

	assert.ok(validate(scope), JSON.stringify(validate.errors?.slice(0, 3)));
	assert.deepEqual([...new Set(scope.profiles.map((each) => each.type))].sort(), ["evented", "sampled"]);
	/* It would have said so. */
	scope.profiles[0]!.type = "sampling";
	assert.equal(validate(scope), false);
});

test("speedscope opens it", async () => {
	const page = await browser.newPage(), script = join(place.path, "profile.js");
	const wrong: string[] = [];

	/* As its own command does. */
	writeFileSync(script, `speedscope.loadFileFromBase64("made.json", ${JSON.stringify(Buffer.from(text).toString("base64"))})`);
	page.setDefaultTimeout(60000);
	page.on("pageerror", (error) => wrong.push(String(error)));
	await page.goto(`${pathToFileURL(`${SPEEDSCOPE}/index.html`).href}#localProfilePath=${script}`);
	await page.waitForFunction((label) => document.title.startsWith(label), LABEL);
	for (const { name } of (JSON.parse(text) as Scope).profiles)
		await page.locator("body", { hasText: name }).waitFor();
	assert.deepEqual(wrong, []);
	await page.close();
});
