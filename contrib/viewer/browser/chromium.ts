/* What the tests of pages share: the browser, sonde, and a page whose every request and complaint is kept. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

/* Both are set by `make check-browser`. */
const SONDE = process.env["SONDE"] ?? "";
const CHROMIUM = process.env["CHROMIUM"] ?? "";

export function sonde(...words: string[]): Buffer {
	return execFileSync(SONDE, words, { maxBuffer: 1 << 28, timeout: 120000 });
}

/* A folder that is gone at the end. */
export function folder(): { path: string; remove: () => void } {
	const path = mkdtempSync(join(tmpdir(), "sonde-viewer-"));

	return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export async function launch(): Promise<Browser> {
	return chromium.launch({
		executablePath: CHROMIUM,
		timeout: 120000,
		args: [
			"--headless=new",
			"--no-sandbox",
			"--disable-quic",
			"--no-first-run",
			"--disable-background-networking",
			"--disable-component-update",
			"--disable-sync",
		],
	});
}

export interface Opened {
	page: Page;
	/* What it asked for beside itself, and what its console or its errors said. */
	requests: string[];
	complaints: string[];
	close: () => Promise<void>;
}

/* A file in a context of its own. */
export async function open(browser: Browser, file: string, options: BrowserContextOptions = {}): Promise<Opened> {
	const context = await browser.newContext(options);
	const page = await context.newPage();
	const address = pathToFileURL(file).href;
	const requests: string[] = [];
	const complaints: string[] = [];

	page.setDefaultTimeout(60000);
	page.on("request", (request) => {
		if (request.url() !== address && !request.url().startsWith("data:"))
			requests.push(request.url());
	});
	page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
	page.on("pageerror", (error) => complaints.push(String(error)));
	await page.goto(address);
	return { page, requests, complaints, close: () => context.close() };
}
