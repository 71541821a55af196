/* Makes what browsers and node run out of the sources of this package.
 *
 *   node build.mjs pages        a page of one file for each folder of src/ that has a page.html, into pages/
 *   node build.mjs library      the package for others, dist/viewer.mjs, and dist/cli.mjs, which draws in a terminal
 *   node build.mjs tests DIR    DIR/NAME.test.ts into DIR/made/NAME.test.mjs
 *
 * A page has its style and its script inside, and a Content-Security-Policy that allows these two by their hashes and nothing
 * else: no request leaves it, and nothing that stands in a document can run. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, existsSync, writeFileSync, rmSync } from "node:fs";
import { build } from "esbuild";

/* Where sonde puts the document; once in a page. */
const DOCUMENT = "@DOCUMENT@";

async function bundle(file) {
	const result = await build({
		entryPoints: [file],
		bundle: true,
		write: false,
		minify: true,
		format: "iife",
		target: ["es2022"],
		charset: "utf8",
		legalComments: "inline",
	});
	/* What ends the element would end it inside a string too. */
	return result.outputFiles[0].text.trim().replaceAll(/<(?=\/script|\/style|!--)/gi, "\\x3c");
}

function hash(text) {
	return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/* Text of another file: a function, since $& in a replacement would mean something. */
function put(page, mark, text) {
	const parts = page.split(mark);
	if (parts.length !== 2)
		throw new Error(`${mark} stands ${parts.length - 1} times in the page, not once`);
	return parts.join(text);
}

async function makePage(name) {
	const folder = `src/${name}`;
	const style = await bundle(`${folder}/style.css`);
	const script = await bundle(`${folder}/main.ts`);
	const policy = [
		"default-src 'none'",
		"img-src data:",
		`style-src ${hash(style)}`,
		`script-src ${hash(script)}`,
		"base-uri 'none'",
		"form-action 'none'",
	].join("; ");
	let page = readFileSync(`${folder}/page.html`, "utf8");
	page = put(page, "@POLICY@", policy);
	page = put(page, "@STYLE@", style);
	page = put(page, "@SCRIPT@", script);
	if (page.split(DOCUMENT).length !== 2)
		throw new Error(`${folder}: ${DOCUMENT} must stand in it once`);
	writeFileSync(`pages/${name}.html`, page);
	console.log(`pages/${name}.html: ${Buffer.byteLength(page)} bytes`);
}

async function makePages() {
	rmSync("pages", { recursive: true, force: true });
	mkdirSync("pages");
	for (const name of readdirSync("src").sort())
		if (existsSync(`src/${name}/page.html`))
			await makePage(name);
}

async function makeLibrary() {
	rmSync("dist", { recursive: true, force: true });
	const common = { bundle: true, format: "esm", target: ["es2022"], charset: "utf8", legalComments: "inline" };
	await build({ ...common, entryPoints: ["src/index.ts"], platform: "browser", outfile: "dist/viewer.mjs" });
	await build({ ...common, entryPoints: ["src/cli.ts"], platform: "node", outfile: "dist/cli.mjs" });
}

async function makeTests(folder) {
	rmSync(`${folder}/made`, { recursive: true, force: true });
	await build({
		entryPoints: readdirSync(folder).filter((name) => name.endsWith(".test.ts")).map((name) => `${folder}/${name}`),
		bundle: true,
		platform: "node",
		packages: "external",
		format: "esm",
		outdir: `${folder}/made`,
		outExtension: { ".js": ".mjs" },
		sourcemap: "inline",
	});
}

const [what, folder] = process.argv.slice(2);
if (what === "pages")
	await makePages();
else if (what === "library")
	await makeLibrary();
else if (what === "tests" && folder)
	await makeTests(folder);
else
	throw new Error("usage: node build.mjs pages | library | tests FOLDER");
