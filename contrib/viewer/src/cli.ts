/* node cli.mjs FILE [WIDTH]: a timeline as SVG on stdout, drawn by what draws the page. FILE is a recording or the JSON of
 * `sonde timeline --json`; - is stdin. */
import { readFileSync } from "node:fs";
import { load, said } from "./timeline/load";
import { rowsOf } from "./timeline/rows";
import { draw, headOf, LANE, LIGHT, sceneOf, type View } from "./timeline/scene";
import { SvgSurface } from "./timeline/surface";

const ROWS_MOST = 2000;

function svgOf(bytes: Uint8Array, width: number): string {
	const { timeline, problems } = load(bytes);
	const rows = rowsOf(timeline).slice(0, ROWS_MOST), scene = sceneOf(timeline, rows), surface = new SvgSurface();
	const view: View = {
		width, height: headOf(scene) + rows.length * LANE, from: 0, to: Math.max(timeline.window.seconds, 1e-5), scroll: 0, theme: LIGHT,
		selected: null, pinned: null, cursor: null, drag: null,
	};

	for (const problem of problems)
		process.stderr.write(`${problem}\n`);
	if (timeline.processes.length > ROWS_MOST)
		process.stderr.write(`${timeline.processes.length - ROWS_MOST} more processes are left out\n`);
	draw(surface, scene, view);
	return surface.document(width, view.height, timeline.meta.label || timeline.meta.host);
}

function main(file: string | undefined, width = "1200"): number {
	if (file === undefined || !/^[1-9]\d{2,4}$/.test(width)) {
		process.stderr.write("usage: node cli.mjs FILE [WIDTH]: a timeline as SVG; WIDTH is in pixels, 100 or more\n");
		return 2;
	}
	try {
		process.stdout.write(svgOf(readFileSync(file === "-" ? 0 : file), Number(width)));
		return 0;
	} catch (error) {
		const line = said(error) ?? (error instanceof Error && "code" in error ? error.message : null);

		if (line === null)
			throw error;
		process.stderr.write(`${file}: ${line}\n`);
		return 1;
	}
}

process.exitCode = main(process.argv[2], process.argv[3]);
