/* Every metric that has a course, on one axis of time, with the stretches of the findings. */
import { Clock } from "../common/clock";
import { button, foreign, make, section } from "../common/dom";
import { Plot, type Mark } from "../common/plot";
import type { Range } from "../common/range";
import { onTheme } from "../common/theme";
import { visible } from "../common/text";
import { sayDuration, sayValue } from "../common/units";
import type { Finding, Report, Series } from "./document";
import type { Show } from "./findings";
import { chartId, courses, strip } from "./place";

/* What the first word of a metric's name stands for; others stand for themselves. */
const AREAS: Record<string, string> = {
	cpu: "CPU", mem: "Memory", io: "Disks", net: "Network", numa: "NUMA", hp: "Huge pages", cache: "Caches and pipeline",
	cgroup: "Control groups", delay: "Delays", run: "The command",
};

export function areaOf(name: string): string {
	const word = name.split(".")[0]!;

	return Object.hasOwn(AREAS, word) ? AREAS[word]! : word;
}

interface Tile {
	series: Series;
	element: HTMLElement;
	plot: Plot | null;
}

export class Charts {
	readonly element: HTMLElement;
	private readonly tiles: Tile[] = [];
	private readonly readout = make("output", "readout");
	private selected: Finding | null = null;
	private lanes: { finding: Finding; element: HTMLButtonElement }[] = [];

	constructor(
		private readonly report: Report,
		private readonly clock: Clock,
		private readonly range: Range,
		private readonly show: Show,
	) {
		this.element = section("charts", "Over time");
		if (!courses(report).length) {
			this.element.append(make("p", "nothing", "Nothing has a course: the window is one instant, or too short."));
			return;
		}
		this.element.append(this.tools(), this.findingLanes(), ...this.areas());
		this.element.addEventListener("keydown", (event) => {
			if (event.ctrlKey || event.metaKey || event.altKey || !range.key(event.key))
				return;
			event.preventDefault();
			if (event.key === "Escape")
				this.select(null);
		});
	}

	/* Once the page stands, since a chart is as wide as its place. */
	draw(): void {
		this.drawOpen();
		this.range.onChange(() => {
			for (const tile of this.tiles)
				tile.plot?.follow();
			this.follow();
		});
		this.follow();
		const redraw = () => this.tiles.forEach((tile) => tile.plot?.redraw());
		onTheme(redraw);
		new ResizeObserver(redraw).observe(this.element);
	}

	/* A finding whose stretch is marked everywhere, or none. */
	select(finding: Finding | null): void {
		this.selected = finding;
		for (const lane of this.lanes)
			lane.element.setAttribute("aria-pressed", String(lane.finding === finding));
		for (const tile of this.tiles)
			this.mark(tile);
	}

	private tools(): HTMLElement {
		const { range } = this;
		const tools = make("div", "tools",
			button("", "Zoom in (+)", () => range.zoom(0.5), "+"),
			button("", "Zoom out (-)", () => range.zoom(2), "\u2212"),
			button("", "Earlier (left arrow)", () => range.move(-0.25), "\u2190"),
			button("", "Later (right arrow)", () => range.move(0.25), "\u2192"),
			button("reset", "Show the whole window (0 or Escape)", () => { this.select(null); range.reset(); }, "Whole window"),
			this.readout);

		tools.setAttribute("role", "toolbar");
		tools.setAttribute("aria-label", "Stretch of time");
		return tools;
	}

	/* A line for each finding: where in what is shown it held. */
	private findingLanes(): HTMLElement {
		const list = make("div", "lanes");

		for (const finding of this.report.findings) {
			const lane = button(`lane ${finding.severity}`, `${finding.id}, about ${finding.about}: show on the charts`,
				() => this.show(finding),
				make("span", "label", make("code", "", finding.id), " ", foreign("soft", finding.about)));

			lane.setAttribute("aria-pressed", "false");
			this.lanes.push({ finding, element: lane });
			list.append(lane);
		}
		list.hidden = !this.lanes.length;
		return list;
	}

	/* What stayed 0 is out of the way: it can be opened. */
	private areas(): HTMLElement[] {
		const areas = new Map<string, { moving: Tile[]; nil: Tile[] }>();
		const told = new Set(this.report.findings.flatMap((finding) => finding.evidence.map((each) => each.name)));

		for (const series of courses(this.report)) {
			const name = areaOf(series.metric);
			const area = areas.get(name) ?? { moving: [], nil: [] };
			const tile = { series, element: make("figure", "tile"), plot: null };

			tile.element.id = chartId(series.metric);
			this.tiles.push(tile);
			(series.value.some((value) => value) || told.has(series.metric) ? area.moving : area.nil).push(tile);
			areas.set(name, area);
		}
		return [...areas].map(([name, { moving, nil }]) => {
			const box = make("div", "area", make("h3", "", name), make("div", "tiles", ...moving.map((tile) => tile.element)));

			if (nil.length)
				box.append(this.closed(nil));
			return box;
		});
	}

	private closed(tiles: Tile[]): HTMLElement {
		const names = tiles.map((tile) => tile.series.metric).join(", ");
		const details = make("details", "", make("summary", "", "0 all the time: ", make("span", "soft", names)),
			make("div", "tiles", ...tiles.map((tile) => tile.element)));

		details.addEventListener("toggle", () => this.drawOpen());
		return details;
	}

	/* Those that are to be seen and are not there yet. */
	private drawOpen(): void {
		for (const tile of this.tiles)
			if (!tile.plot && !tile.element.closest("details:not([open])"))
				this.drawTile(tile);
	}

	private drawTile(tile: Tile): void {
		const { series, element } = tile;
		const metric = this.report.metrics.find((each) => each.name === series.metric && !each.about);
		const mean = metric ? sayValue(metric.value, metric.unit, metric.counted) : "";
		const value = make("span", "value", mean);
		const place = make("div", "plot");

		element.append(make("figcaption", "", make("code", "", series.metric), value), place);
		place.setAttribute("role", "img");
		place.setAttribute("aria-label", `${series.metric} over time, ${mean} in all`);
		if (metric)
			element.title = visible(metric.origin);
		tile.plot = new Plot(place, series, this.range, this.clock, (time, said) => {
			value.textContent = said ?? mean;
			value.classList.toggle("at", said !== null);
			if (time !== null)
				this.tellCursor(time);
			else
				this.tellRange();
		});
		this.mark(tile);
	}

	/* Findings stand on the charts of their evidence, the selected one on all. */
	private mark(tile: Tile): void {
		const marks: Mark[] = [];

		for (const finding of this.report.findings) {
			const strong = finding === this.selected;

			if (strong || finding.evidence.some((each) => each.name === tile.series.metric))
				marks.push({ from: finding.when.from, to: finding.when.to, colour: finding.severity, strong });
		}
		tile.plot?.mark(marks);
		tile.element.classList.toggle("shown", !!this.selected?.evidence.some((each) => each.name === tile.series.metric));
	}

	private follow(): void {
		for (const lane of this.lanes) {
			lane.element.querySelector(".strip")?.remove();
			lane.element.append(strip(lane.finding, this.range.from, this.range.to));
		}
		this.tellRange();
	}

	private tellRange(): void {
		const { from, to, span } = this.range;
		const digits = span < 1 ? 3 : 1;
		const days = this.clock.day(from) === this.clock.day(to) ? "" : `${this.clock.day(to)} `;

		this.readout.textContent = this.clock.known
			? `${this.clock.day(from)} ${this.clock.time(from, digits)} to ${days}${this.clock.time(to, digits)} ${this.clock.zone}: ${sayDuration(span)}`
			: `+${from.toFixed(digits)} s to +${to.toFixed(digits)} s`;
	}

	private tellCursor(time: number): void {
		this.readout.textContent = this.clock.known
			? `${this.clock.time(time, 1)} ${this.clock.zone}, +${time.toFixed(1)} s`
			: `+${time.toFixed(1)} s`;
	}
}
