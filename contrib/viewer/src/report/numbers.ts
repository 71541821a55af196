/* The USE table and every metric. */
import { foreign, make, section, table, type Child } from "../common/dom";
import { sayValue } from "../common/units";
import { areaOf } from "./charts";
import type { Cell, Metric, Report } from "./document";
import { meter, type Names } from "./place";

function cell(names: Names, of: Cell | null, about: string): Child {
	if (!of)
		return make("span", "soft", "\u2013");
	return make("div", "use",
		make("span", "value", sayValue(of.value, of.unit, of.counted)),
		meter(of),
		make("span", "soft", names.of(of.metric, about)));
}

export function useSection(report: Report, names: Names): HTMLElement {
	return section("use", "Utilisation, saturation, errors",
		table("use", "Each resource", ["resource", "utilisation", "saturation", "errors"], report.use.map((line): Child[] => [
			make("div", "", make("strong", "", line.resource), !!line.about && " ", !!line.about && foreign("soft", line.about)),
			cell(names, line.utilisation, line.about),
			cell(names, line.saturation, line.about),
			cell(names, line.errors, line.about),
		])));
}

const BETTER = { up: "higher", down: "lower", neither: "" };

function row(names: Names, metric: Metric): Child[] {
	return [
		make("div", "", names.of(metric.name, metric.about), !!metric.about && " ", !!metric.about && foreign("soft", metric.about)),
		sayValue(metric.value, metric.unit, metric.counted),
		make("span", "soft", BETTER[metric.direction]),
		foreign("origin", metric.origin),
	];
}

export function metricsSection(report: Report, names: Names): HTMLElement {
	const areas = new Map<string, Metric[]>();

	for (const metric of report.metrics)
		areas.set(areaOf(metric.name), [...(areas.get(areaOf(metric.name)) ?? []), metric]);
	return section("metrics", "Metrics",
		make("p", "soft", "Over the whole window; of the host where nothing else is named."),
		...[...areas].map(([area, metrics]) => make("div", "area", make("h3", "", area),
			table("metrics", `Metrics: ${area}`, ["metric", ">value", "better", "from"], metrics.map((each) => row(names, each))))));
}
