/* The page of a report: draws the document that is embedded in it. */
import { Clock } from "../common/clock";
import { embedded, link, make } from "../common/dom";
import { parseExact } from "../common/json";
import { Range } from "../common/range";
import { visible } from "../common/text";
import { Charts } from "./charts";
import type { Finding, Report } from "./document";
import { findingsSection, verdictsSection } from "./findings";
import { head, machineSection } from "./machine";
import { metricsSection, useSection } from "./numbers";
import { Names } from "./place";
import { qualitySection } from "./quality";

/* The shortest stretch that is worth a look: a few points, of which there are at most 512. */
function shortest(report: Report): number {
	return Math.max(report.window.seconds / 200, 0.05);
}

function contents(sections: HTMLElement[]): HTMLElement {
	const nav = make("nav", "", ...sections.map((each) => link(each.id, each.querySelector("h2")?.textContent ?? each.id)));

	nav.setAttribute("aria-label", "Sections");
	return nav;
}

function draw(place: HTMLElement, report: Report): void {
	const clock = new Clock(report.window.begin);
	const range = new Range(report.window.seconds, shortest(report));
	const names = new Names(report);
	const show = (finding: Finding) => {
		charts.select(finding);
		range.show(finding.when.from, finding.when.to);
		charts.element.scrollIntoView();
	};
	const charts = new Charts(report, clock, range, show);
	const sections = [
		findingsSection(report, names, clock, range, show),
		useSection(report, names),
		charts.element,
		verdictsSection(report),
		metricsSection(report, names),
		qualitySection(report),
		machineSection(report),
	];

	document.title = visible(`${report.meta.host}${report.meta.label ? ` ${report.meta.label}` : ""}: sonde report`);
	place.append(head(report, clock), contents(sections), ...sections);
	charts.draw();
}

function begin(place: HTMLElement): void {
	let report: Report | null;

	try {
		report = embedded(parseExact) as Report | null;
	} catch (error) {
		place.append(make("p", "nothing", `The document in this page is damaged: ${String(error)}`));
		return;
	}
	if (report)
		draw(place, report);
	else
		place.append(make("p", "nothing", "This is the empty page: `sonde report --html=FILE RECORDING` puts a report into it."));
}

const place = document.getElementById("report");
if (place)
	begin(place);
