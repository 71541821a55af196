/* Where things stand: on the page, and in the window. */
import { link, make, type Child } from "../common/dom";
import type { Cell, Finding, Report, Series } from "./document";

/* Of the element that shows a metric's chart. */
export function chartId(metric: string): string {
	return `chart-${metric}`;
}

/* What has a course: one point is none. */
export function courses(report: Report): Series[] {
	return report.series.filter((series) => series.time.length > 1);
}

/* A metric's name, which leads to its chart where it has one. */
export class Names {
	private readonly charted: Set<string>;

	constructor(report: Report) {
		this.charted = new Set(courses(report).map((series) => series.metric));
	}

	of(metric: string, about = ""): HTMLElement {
		const name = make("code", "", metric);

		return !about && this.charted.has(metric) ? link(chartId(metric), name) : name;
	}
}

/* Where between two times a finding held, as a bar. */
export function strip(finding: Finding, from: number, to: number): HTMLElement {
	const bar = make("span", "bar");
	const part = (seconds: number) => Math.min(Math.max((seconds - from) / (to - from || 1), 0), 1) * 100;
	const begin = part(finding.when.from), end = part(finding.when.to);

	bar.style.left = `${begin}%`;
	bar.style.width = `${end - begin}%`;
	bar.hidden = finding.when.to < from || finding.when.from > to;
	return make("span", `strip ${finding.severity}`, bar);
}

/* A share as a bar behind its text; nothing where it is none. */
export function meter(cell: Cell): Child {
	if (cell.unit !== "ratio" || typeof cell.value !== "number")
		return null;
	const bar = make("span", "bar");

	bar.style.width = `${Math.min(Math.max(cell.value, 0), 1) * 100}%`;
	return make("span", "meter", bar);
}
