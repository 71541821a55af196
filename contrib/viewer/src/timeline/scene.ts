/* Draws a timeline: charts, the axis, and a lane for each process that is in sight. The page and cli.js draw by this alone. */
import { Clock, sayMarks, timeMarks } from "../common/clock";
import { sayValue } from "../common/units";
import type { Charts, Process, Series, Timeline } from "./document";
import { endOf, type Row } from "./rows";
import { sharesOf, STATES, stretchAt, type Shares, type State } from "./states";
import type { Surface } from "./surface";

export interface Theme {
	paper: string;
	ink: string;
	faint: string;
	grid: string;
	stripe: string;
	mark: string;
	states: Record<State, string>;
	lines: readonly [string, string];
}

export const LIGHT: Theme = {
	paper: "#ffffff", ink: "#1b1f24", faint: "#656d76", grid: "#e4e7eb", stripe: "#f6f8fa", mark: "#fff3c4",
	states: { running: "#2f9e63", waiting: "#e8590c", blocked: "#7048e8", sleeping: "#dfe4ea", unknown: "#f1ead8" },
	lines: ["#0b66c3", "#9aa4b0"],
};

export const DARK: Theme = {
	paper: "#0f1318", ink: "#e6e9ed", faint: "#939da8", grid: "#262d35", stripe: "#151a20", mark: "#4a3d10",
	states: { running: "#37b679", waiting: "#ff8038", blocked: "#9a7dff", sleeping: "#2d353f", unknown: "#453f2f" },
	lines: ["#58a6ff", "#6b7683"],
};

export const LANE = 20, CHART = 52, AXIS = 22, BAR = 13;

export interface View {
	width: number;
	height: number;
	/* The stretch of time in sight. */
	from: number;
	to: number;
	/* Pixels that the lanes are scrolled by. */
	scroll: number;
	theme: Theme;
	/* ids; null: none. */
	selected: number | null;
	pinned: number | null;
	/* Where the pointer is, in time; and what is being chosen by a drag. */
	cursor: number | null;
	drag: readonly [number, number] | null;
}

export interface Scene {
	timeline: Timeline;
	rows: readonly Row[];
	clock: Clock;
	charts: readonly Series[][];
}

/* Series of the same chart are drawn over each other; one of which nothing is known is left out. */
export function sceneOf(timeline: Timeline, rows: readonly Row[]): Scene {
	const charts = new Map<string, Series[]>();

	for (const series of timeline.charts.series)
		if (series.value.some((value) => value !== null))
			charts.set(series.chart, [...(charts.get(series.chart) ?? []), series]);
	return { timeline, rows, clock: new Clock(timeline.window.begin), charts: [...charts.values()] };
}

/* Where things are. */
export function gutterOf(view: View): number {
	return Math.round(Math.min(300, view.width * 0.34));
}

export function headOf(scene: Scene): number {
	return scene.charts.length * CHART + AXIS;
}

export function xOf(view: View, time: number): number {
	const left = gutterOf(view);

	return left + ((time - view.from) / (view.to - view.from)) * (view.width - left);
}

export function timeAt(view: View, x: number): number {
	const left = gutterOf(view);

	return view.from + ((x - left) / (view.width - left)) * (view.to - view.from);
}

/* The row at y, or null above and below the lanes. */
export function rowAt(scene: Scene, view: View, y: number): Row | null {
	return y < headOf(scene) ? null : (scene.rows[Math.floor((y - headOf(scene) + view.scroll) / LANE)] ?? null);
}

/* ---- charts ---- */

/* The most that is known in sight, so that a quiet part is not flat beside a loud one. */
function topOf(charts: Charts, of: readonly Series[], view: View): number {
	let top = 0;

	for (let i = stretchAt(charts.until, view.from); i < charts.until.length; i++) {
		if ((i ? charts.until[i - 1]! : charts.begin) >= view.to)
			break;
		for (const series of of)
			top = Math.max(top, series.value[i] ?? 0);
	}
	return top;
}

/* The highest value of each pixel, so that a peak stays one; a value that is not known is a hole. */
function lineOf(charts: Charts, series: Series, view: View, y: (value: number) => number): [number, number][][] {
	const lines: [number, number][][] = [];
	let line: [number, number][] = [];

	for (let i = stretchAt(charts.until, view.from); i < charts.until.length; i++) {
		const begin = i ? charts.until[i - 1]! : charts.begin, value = series.value[i] ?? null;
		const from = Math.max(xOf(view, begin), gutterOf(view)), to = Math.min(xOf(view, charts.until[i]!), view.width);
		const last = line.at(-1);

		if (begin >= view.to)
			break;
		if (value === null) {
			if (line.length)
				lines.push(line);
			line = [];
		} else if (last && to - last[0] < 1 && to - from < 1) {
			last[1] = Math.min(last[1], y(value));
		} else {
			line.push([from, y(value)], [to, y(value)]);
		}
	}
	return line.length ? [...lines, line] : lines;
}

function drawChart(surface: Surface, scene: Scene, view: View, of: readonly Series[], top: number): void {
	const { theme } = view, left = gutterOf(view), charts = scene.timeline.charts;
	const most = topOf(charts, of, view), base = top + CHART - 7, room = CHART - 16;
	const first = of[0]!;
	const i = view.cursor === null ? -1 : stretchAt(charts.until, view.cursor), title = left < 180 ? 68 : 90;

	surface.line([[left, base + 0.5], [view.width, base + 0.5]], theme.grid, 1);
	surface.text(10, top + 14, first.chart, theme.ink, title, { bold: true });
	/* Where there is no room for the unit, the chart's name says enough. */
	surface.text(left - 8, top + 14, sayValue(most, first.unit, left < 180 ? " " : first.counted).trim(), theme.faint, left - title - 16, { right: true, size: left < 180 ? 10 : 11 });
	of.slice(0, 2).forEach((series, n) => {
		const value = series.value[i] ?? null;
		const said = value === null ? "" : `: ${sayValue(value, series.unit, series.counted)}`;

		surface.rect(10, top + 25 + 13 * n, 8, 3, theme.lines[n]!);
		surface.text(23, top + 27 + 13 * n, `${series.title}${said}`, theme.faint, left - 30, { size: 11 });
	});
	/* The first one last: it is what it is about. */
	of.slice(0, 2).forEach((_, n, all) => {
		const at = all.length - 1 - n;

		for (const line of lineOf(charts, all[at]!, view, (value) => base - (most ? value / most : 0) * room))
			surface.line(line, theme.lines[at]!, at ? 1 : 1.5);
	});
}

/* ---- lanes ---- */

function drawShares(surface: Surface, view: View, shares: Shares, x: number, width: number, top: number): void {
	let y = top + BAR;

	for (const state of STATES) {
		const height = shares[state] * BAR;

		if (height < 0.2)
			continue;
		surface.rect(x, y - height, width, height, view.theme.states[state]);
		y -= height;
	}
}

/* Stretches that are narrower than a pixel are put together to one. */
function drawLane(surface: Surface, row: Row, view: View, top: number): void {
	const { process } = row, lane = process.lane, left = gutterOf(view);
	const begin = Math.max(process.start, view.from), end = Math.min(endOf(process), view.to);
	const from = Math.max(left, xOf(view, begin)), to = Math.min(view.width, Math.max(xOf(view, end), xOf(view, begin) + 1.5));
	let x = Math.max(left, xOf(view, lane.begin)), sum: Shares | null = null, weight = 0;

	if (end < view.from || begin > view.to)
		return;
	/* What no stretch covers is not known. */
	surface.rect(Math.floor(from), top, Math.max(1, Math.floor(to) - Math.floor(from)), BAR, view.theme.states.unknown);
	for (let i = stretchAt(lane.until, view.from); i < lane.until.length; i++) {
		const start = Math.max(i ? lane.until[i - 1]! : lane.begin, view.from), until = Math.min(lane.until[i]!, view.to);
		const shares = sharesOf(lane, i), length = Math.max(until - start, 1e-9), right = xOf(view, until);

		if (start > view.to)
			break;
		if (sum === null) {
			x = Math.max(left, xOf(view, start));
			sum = { running: 0, waiting: 0, blocked: 0, sleeping: 0, unknown: 0 };
			weight = 0;
		}
		for (const state of STATES)
			sum[state] += shares[state] * length;
		weight += length;
		if (right - x < 1 && i < lane.until.length - 1 && until < view.to)
			continue;
		for (const state of STATES)
			sum[state] /= weight;
		/* Whole pixels: no paper shines through between two. */
		drawShares(surface, view, sum, Math.floor(x), Math.max(1, Math.floor(right) - Math.floor(x)), top);
		sum = null;
	}
}

/* The command line without the folder of its program. */
function labelOf(process: Process): string {
	return process.command?.replace(/^[^ ]*\/(?=[^/ ])/, "") || process.name || "?";
}

function drawRow(surface: Surface, row: Row, view: View, top: number, stripe: boolean): void {
	const { process } = row, { theme } = view, left = gutterOf(view);
	const indent = 10 + Math.min(row.depth, 12) * 10;
	const pid = String(process.pid);

	if (stripe)
		surface.rect(0, top, view.width, LANE, theme.stripe);
	if (row.found || view.pinned === process.id)
		surface.rect(0, top, left, LANE, theme.mark);
	if (view.selected === process.id)
		surface.rect(0, top, 3, LANE, theme.lines[0]);
	surface.text(indent, top + LANE / 2, labelOf(process), theme.ink, left - indent - 12 - 7 * pid.length, { bold: process.critical });
	surface.text(left - 8, top + LANE / 2, pid, theme.faint, 60, { right: true, size: 11 });
	drawLane(surface, row, view, top + Math.floor((LANE - BAR) / 2));
}

/* ---- all of it ---- */

function drawAxis(surface: Surface, scene: Scene, view: View, top: number): void {
	const marks = timeMarks(scene.clock, view.from, view.to, Math.max(2, Math.floor((view.width - gutterOf(view)) / 90)));

	sayMarks(scene.clock, marks).forEach((said, i) => {
		const x = xOf(view, marks[i]!);

		surface.line([[Math.round(x) + 0.5, 0], [Math.round(x) + 0.5, view.height]], view.theme.grid, 1);
		surface.text(x + 4, top + AXIS / 2, said, view.theme.faint, 86, { size: 11 });
	});
	surface.text(10, top + AXIS / 2, scene.clock.zone || "seconds", view.theme.faint, gutterOf(view) - 20, { size: 11 });
}

/* Lanes first, and what may not be scrolled over them: on a surface without a clip nothing stands out. */
export function draw(surface: Surface, scene: Scene, view: View): void {
	const { theme } = view, head = headOf(scene);
	const first = Math.max(0, Math.floor(view.scroll / LANE));
	const last = Math.min(scene.rows.length, Math.ceil((view.scroll + view.height - head) / LANE));

	surface.rect(0, 0, view.width, view.height, theme.paper);
	for (let i = first; i < last; i++)
		drawRow(surface, scene.rows[i]!, view, head + i * LANE - view.scroll, i % 2 === 1);
	surface.rect(0, 0, view.width, head, theme.paper);
	drawAxis(surface, scene, view, head - AXIS);
	scene.charts.forEach((of, i) => drawChart(surface, scene, view, of, i * CHART));
	surface.line([[0, head - 0.5], [view.width, head - 0.5]], theme.grid, 1);
	if (view.drag) {
		const [from, to] = view.drag.map((time) => xOf(view, time)) as [number, number];

		surface.rect(Math.min(from, to), 0, Math.abs(to - from), view.height, `${theme.lines[0]}30`);
	} else if (view.cursor !== null) {
		const x = Math.round(xOf(view, view.cursor)) + 0.5;

		surface.line([[x, 0], [x, view.height]], theme.faint, 0.5);
	}
}
