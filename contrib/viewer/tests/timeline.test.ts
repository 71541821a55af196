/* The timeline's document, rows and what is drawn of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DocumentError, parseTimeline, type Lane, type Timeline } from "../src/timeline/document";
import { rowsOf, search } from "../src/timeline/rows";
import { draw, headOf, LIGHT, sceneOf, timeAt, xOf, type View } from "../src/timeline/scene";
import { sharesBetween, sharesOf } from "../src/timeline/states";
import { escapeXml, SvgSurface } from "../src/timeline/surface";
import { crowd } from "./crowd";

/* A copy to be spoiled, as it comes out of JSON. */
function copy(timeline: Timeline): Timeline {
	return JSON.parse(JSON.stringify(timeline)) as Timeline;
}

function refused(spoil: (timeline: Timeline) => void, says: RegExp): void {
	const timeline = copy(crowd(3));

	spoil(timeline);
	assert.throws(() => parseTimeline(timeline), (error) => error instanceof DocumentError && says.test(error.message));
}

test("a document comes out as it went in", () => {
	assert.deepEqual(parseTimeline(copy(crowd(50))), crowd(50));
});

test("arrays that do not fit are told", () => {
	refused((timeline) => timeline.processes[2]!.lane.running.pop(), /^processes\[2\]\.lane\.running: has \d+ values, and until \d+$/);
	refused((timeline) => timeline.charts.series[1]!.value.push(1), /^charts\.series\[1\]\.value: has 3001 values, and until 3000$/);
	refused((timeline) => timeline.charts.until.reverse(), /^charts\.until\[1\]: is before/);
	refused((timeline) => (timeline.processes[1]!.lane.blocked[0] = "x" as never), /^processes\[1\]\.lane\.blocked\[0\]: is no number$/);
});

test("what is no such document is told", () => {
	for (const value of [null, 7, "x", [], {}])
		assert.throws(() => parseTimeline(value), DocumentError);
	refused((timeline) => (timeline.meta.document = "sonde report"), /sonde timeline --json writes/);
	refused((timeline) => (timeline.meta.format = 2), /^meta\.format/);
	refused((timeline) => (timeline.processes[1]!.parent = 2), /^processes\[1\]\.parent: does not stand before it$/);
	refused((timeline) => (timeline.processes[1]!.id = 0), /^processes\[1\]\.id: is another process's too$/);
});

const LANE: Lane = { begin: 1, until: [2, 4, 5], running: [0.5, 3, null], waiting: [0.25, 1, 0], blocked: [0, 0, 0] };

test("shares add up to one, and what is not known is no sleep", () => {
	assert.deepEqual(sharesOf(LANE, 0), { running: 0.5, waiting: 0.25, blocked: 0, sleeping: 0.25, unknown: 0 });
	assert.deepEqual(sharesOf(LANE, 1), { running: 0.75, waiting: 0.25, blocked: 0, sleeping: 0, unknown: 0 });
	assert.deepEqual(sharesOf(LANE, 2), { running: 0, waiting: 0, blocked: 0, sleeping: 0, unknown: 1 });
	/* From 0 to 2 there is half a lane; from 1 to 4 one second of the first, two of the second. */
	assert.deepEqual(sharesBetween(LANE, 0, 2), { running: 0.25, waiting: 0.125, blocked: 0, sleeping: 0.125, unknown: 0.5 });
	assert.equal(sharesBetween(LANE, 1, 4).running, (0.5 + 2 * 0.75) / 3);
});

test("a search leaves what it finds, and what stands above that", () => {
	const timeline = crowd(200), rows = rowsOf(timeline);
	const found = search(rows, "1150");

	assert.equal(search(rows, "  ").length, 200);
	assert.deepEqual(search(rows, "no such thing"), []);
	assert.deepEqual(found.filter((row) => row.found).map((row) => row.process.id), [150]);
	assert.equal(found[0]!.process.id, 0);
	assert.equal(search(rows, "CC1").filter((row) => row.found).length, timeline.processes.filter((each) => each.name === "cc1").length);
	for (const row of found.slice(1))
		assert.ok(found.some((above) => above.process.id === row.process.parent));
});

function view(to: number): View {
	return { width: 1000, height: 700, from: 0, to, scroll: 0, theme: LIGHT, selected: null, pinned: null, cursor: null, drag: null };
}

test("only rows in sight are drawn, and time goes both ways", () => {
	const timeline = crowd(5000), surface = new SvgSurface(), shown = view(600);
	const scene = sceneOf(timeline, rowsOf(timeline));

	draw(surface, scene, shown);
	const svg = surface.document(1000, 700, "many");
	assert.ok(svg.includes("--job=0") && svg.includes("--job=20") && !svg.includes("--job=100 "));
	for (const time of [0, 123.4, 600])
		assert.ok(Math.abs(timeAt(shown, xOf(shown, time)) - time) < 1e-9);
	shown.scroll = 100 * 20;
	const scrolled = new SvgSurface();
	draw(scrolled, scene, shown);
	assert.ok(scrolled.document(1000, 700, "many").includes("--job=100 "));
	assert.ok(headOf(scene) > 0);
});

test("no name is markup", () => {
	const timeline = crowd(1);

	timeline.processes[0]!.command = "a<b>&\"'\u202e\u0000\ud800\uffff";
	assert.equal(escapeXml(timeline.processes[0]!.command), "a&lt;b&gt;&amp;&quot;&#39;\\u202e\\x00\ufffd\ufffd");
	const surface = new SvgSurface();
	draw(surface, sceneOf(timeline, rowsOf(timeline)), view(600));
	const svg = surface.document(1000, 700, "<title>");
	assert.ok(svg.includes("a&lt;b&gt;") && !svg.includes("a<b>") && svg.includes("<title>&lt;title&gt;</title>"));
});

test("nothing to draw is drawn as nothing", () => {
	const timeline = crowd(0), surface = new SvgSurface();

	timeline.charts = { begin: 0, until: [], series: [] };
	draw(surface, sceneOf(parseTimeline(copy(timeline)), []), view(600));
	assert.ok(surface.document(10, 10, "").startsWith("<svg "));
});
