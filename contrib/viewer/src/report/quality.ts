/* How good the data is: what is missing and why, what the recorder itself cost. */
import { facts, foreign, make, section, table, type Child } from "../common/dom";
import { fixed, sayDuration } from "../common/units";
import type { Gaps, Report } from "./document";

function alike(a: Gaps, b: Gaps): boolean {
	return a.count === b.count && a.lost === b.lost && a.seconds === b.seconds && a.reason === b.reason && a.text === b.text;
}

/* A late tick is missed by every section of its lane: one line for all of them. */
function lines(gaps: Gaps[]): Gaps[][] {
	const together: Gaps[][] = [];

	for (const each of gaps) {
		const same = together.find((line) => alike(line[0]!, each));

		if (same)
			same.push(each);
		else
			together.push([each]);
	}
	return together;
}

export function qualitySection(report: Report): HTMLElement {
	const { gaps, more_gaps, notes, more_notes, own_cpu, ended } = report.data_quality;
	const more = (count: unknown, what: string) => (count ? make("p", "soft", `${String(count)} more ${what}`) : null);

	return section("data", "Data quality",
		facts("facts", [
			["Gaps", gaps.length === 0 && "none"],
			["Own cost", own_cpu !== null && `${fixed(own_cpu * 100, 2)} % of one CPU`],
			["Ended", foreign("", ended ?? "without an end record: it still grows, or was cut off")],
			["Recorded by", report.meta.version && foreign("", `sonde ${report.meta.version}`)],
		]),
		gaps.length > 0 && table("gaps", "Gaps: data that is missing", ["what", ">gaps", ">in all", "sections", "why"], lines(gaps).map((line): Child[] => {
			const [one] = line as [Gaps];

			return [
				foreign("", one.reason),
				String(one.count),
				one.seconds === null ? "not known" : sayDuration(one.seconds),
				make("div", "ids", ...line.map((each) => each.instance !== "" && make("code", "", each.instance))),
				foreign("", one.text),
			];
		})),
		more(more_gaps, "gaps"),
		notes.length > 0 && table("notes", "Notes of the collectors", ["section", "note"], notes.map((note): Child[] => [
			make("code", "", note.instance), foreign("", note.text),
		])),
		more(more_notes, "notes"));
}
