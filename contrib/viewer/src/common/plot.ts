/* A small chart of one quantity over time, by uPlot: on the page's stretch of time, in the page's colours. */
import uPlot from "uplot";
import { sayMarks, timeMarks, type Clock } from "./clock";
import { lonely, withHoles, type Points } from "./holes";
import type { Range } from "./range";
import { colour } from "./theme";
import { sayValue } from "./units";

/* A stretch of time that is marked, in the colour of this name. */
export interface Mark {
	from: number;
	to: number;
	colour: string;
	strong: boolean;
}

const HEIGHT = 112, AXIS = 58, EDGE = 8, ROOM = 24, FONT = "10px system-ui, sans-serif";

/* From 0, or from what is below it, to a little above the most. */
function scaleOf(least: number, most: number): [number, number] {
	const low = Math.min(least, 0), high = Math.max(most, 0);

	return low === high ? [0, 1] : [low * 1.08, high * 1.08];
}

/* Distances between marks that are round in the unit they are shown in. */
function roundSteps(unit: string): number[] {
	const base = unit === "bytes" ? 1024 : 1000;
	const steps: number[] = [];

	for (let power = -5; power <= 8; power++)
		for (const round of base === 1024 ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] : [1, 2, 5, 10, 20, 50, 100, 200, 500])
			steps.push(round * base ** power);
	return steps;
}

export class Plot {
	private readonly chart: uPlot;
	private marks: Mark[] = [];

	/* `told`: what stands at the cursor, or null where there is none. */
	constructor(
		private readonly place: HTMLElement,
		points: Points,
		private readonly range: Range,
		clock: Clock,
		told: (time: number | null, value: string | null) => void,
	) {
		const data = withHoles(points), alone = lonely(data[1]);
		const options: uPlot.Options = {
			width: Math.max(place.clientWidth, 120),
			height: HEIGHT,
			padding: [8, EDGE, 0, 0],
			legend: { show: false },
			cursor: {
				y: false,
				points: { size: 6 },
				drag: { x: true, y: false, setScale: false },
				/* All follow one cursor; what is dragged over one is told to all by the range. */
				sync: { key: "page", scales: ["x", null], filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
				bind: { dblclick: () => () => (range.reset(), null) },
			},
			scales: {
				x: { time: false, min: range.from, max: range.to },
				y: { range: (_chart, least, most) => scaleOf(least ?? 0, most ?? 0) },
			},
			series: [
				{},
				{
					stroke: () => colour("mark"),
					fill: () => colour("mark-fill"),
					width: 1.5,
					points: { show: alone.length > 0, size: 4, filter: () => alone },
				},
			],
			axes: [
				{
					stroke: () => colour("soft"),
					font: FONT,
					size: 22,
					gap: 3,
					grid: { stroke: () => colour("line"), width: 1 },
					ticks: { show: false },
					splits: (chart, _axis, min, max) => timeMarks(clock, min, max, Math.max(Math.floor(chart.width / 80), 2)),
					/* One that would stand over the edge, or into the other axis, is left out. */
					values: (chart, splits) => {
						const texts = sayMarks(clock, splits), width = chart.width - AXIS - EDGE;

						return splits.map((split, i) => {
							const at = ((split - range.from) / range.span) * width;

							return at < ROOM || at > width + EDGE - ROOM ? "" : texts[i]!;
						});
					},
				},
				{
					stroke: () => colour("soft"),
					font: FONT,
					size: AXIS,
					gap: 4,
					space: 22,
					incrs: roundSteps(points.unit),
					grid: { stroke: () => colour("line"), width: 1 },
					ticks: { show: false },
					values: (_chart, splits) => splits.map((each) => sayValue(each, points.unit === "count" ? "none" : points.unit, "")),
				},
			],
			hooks: {
				drawAxes: [(chart) => this.drawMarks(chart)],
				setSelect: [(chart) => this.takeDrag(chart)],
				setCursor: [(chart) => {
					const at = chart.cursor.idx;
					const time = at == null ? undefined : data[0][at];
					const value = at == null ? undefined : data[1][at];

					if (time === undefined)
						told(null, null);
					else
						told(time, sayValue(value ?? null, points.unit, points.counted));
				}],
			},
		};

		this.chart = new uPlot(options, data, place);
	}

	mark(marks: Mark[]): void {
		this.marks = marks;
		this.chart.redraw(false);
	}

	follow(): void {
		this.chart.setScale("x", { min: this.range.from, max: this.range.to });
	}

	/* In other colours, or of another width. */
	redraw(): void {
		const width = Math.max(this.place.clientWidth, 120);

		if (width !== this.chart.width)
			this.chart.setSize({ width, height: HEIGHT });
		else
			this.chart.redraw(false);
	}

	private drawMarks(chart: uPlot): void {
		const { ctx, bbox } = chart;

		ctx.save();
		for (const mark of this.marks) {
			const from = Math.max(chart.valToPos(mark.from, "x", true), bbox.left);
			const to = Math.min(chart.valToPos(mark.to, "x", true), bbox.left + bbox.width);

			if (to < bbox.left || from > bbox.left + bbox.width)
				continue;
			const width = Math.max(to - from, 2 * devicePixelRatio);
			ctx.fillStyle = colour(mark.colour);
			ctx.globalAlpha = mark.strong ? 0.17 : 0.1;
			ctx.fillRect(from, bbox.top, width, bbox.height);
			ctx.globalAlpha = 1;
			ctx.fillRect(from, bbox.top, width, 2 * devicePixelRatio);
		}
		ctx.restore();
	}

	private takeDrag(chart: uPlot): void {
		const { left, width } = chart.select;

		if (width < 4)
			return;
		this.range.set(chart.posToVal(left, "x"), chart.posToVal(left + width, "x"));
		chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
	}
}
