/* What was found, what was clear, and what could not be judged. */
import { Clock, sayMoment } from "../common/clock";
import { button, facts, foreign, make, section, table, type Child } from "../common/dom";
import type { Range } from "../common/range";
import { sayDuration, sayValue } from "../common/units";
import type { Finding, Report } from "./document";
import { inOrder, notJudged } from "./judged";
import { strip, type Names } from "./place";

/* Shows a finding's stretch of time on the charts. */
export type Show = (finding: Finding) => void;

function evidence(names: Names, finding: Finding): HTMLElement | null {
	if (!finding.evidence.length)
		return null;
	return table("evidence", "Evidence", ["evidence", ">value", "from"], finding.evidence.map((each): Child[] => [
		names.of(each.name),
		sayValue(each.value, each.unit, each.counted),
		foreign("origin", each.origin),
	]));
}

function when(finding: Finding, clock: Clock, range: Range, show: Show): HTMLElement {
	const { from, to, begin, end, held } = finding.when;
	const stretch = `+${from.toFixed(1)} s to +${to.toFixed(1)} s`;

	return make("div", "when",
		button("zoom", `Show ${finding.id} on the charts`, () => show(finding), stretch),
		make("span", "soft", `held for ${sayDuration(held)}${clock.known ? `, ${sayMoment(begin, false)} to ${sayMoment(end, false)} ${clock.zone}` : ""}`),
		strip(finding, 0, range.length));
}

function card(names: Names, finding: Finding, said: boolean, clock: Clock, range: Range, show: Show): HTMLElement {
	const advice = said
		? facts("advice", [["Action", "as above"]])
		: facts("advice", [
			["Why", foreign("", finding.why)],
			["Action", foreign("", finding.action)],
			["Needs", finding.need && foreign("", finding.need)],
			["Risk", finding.risk && foreign("", finding.risk)],
			["Undo", finding.undo && foreign("", finding.undo)],
		]);

	return make("article", `finding ${finding.severity}`,
		make("header", "",
			make("h3", "", make("span", "severity", finding.severity), " ", foreign("", finding.title)),
			make("p", "soft", make("code", "", finding.id), ", about ", foreign("", finding.about)),
			when(finding, clock, range, show)),
		make("div", "body", advice, evidence(names, finding)));
}

/* What holds, and nobody wants to hear of. */
function ignoredTable(report: Report): HTMLElement {
	return table("ignored", `${report.ignored.length} ignored`, ["ignored", "because", "until"],
		report.ignored.map(({ finding, reason, until }): Child[] => [
			make("span", "", `${finding.severity}: `, foreign("", finding.title), " (", make("code", "", finding.id), ", about ",
				foreign("", finding.about), ")"),
			foreign("", reason),
			until,
		]));
}

export function findingsSection(report: Report, names: Names, clock: Clock, range: Range, show: Show): HTMLElement {
	const told = inOrder(report.findings);

	return section("findings", "Findings",
		told.length === 0 && make("p", "nothing", "Nothing was found. What was clear, and what could not be judged, is below."),
		...told.map(({ finding, said }) => card(names, finding, said, clock, range, show)),
		report.ignored.length > 0 && ignoredTable(report));
}

export function verdictsSection(report: Report): HTMLElement {
	const clear = report.catalogue.judgements.filter((each) => each.verdict === "clear");
	const reasons = notJudged(report.catalogue.judgements);
	const list = make("ul", "clear");

	for (const each of clear) {
		const item = make("li", "", make("code", "", each.id), " ", make("span", "soft", each.title));

		list.append(item);
	}
	return section("judged", "Clear, and not judged",
		reasons.length > 0 && table("unjudged", `${report.catalogue.not_judged} not judged`, ["not judged", "why, and what would provide it"],
			reasons.map(({ reason, judgements }): Child[] => [
				make("div", "ids", ...judgements.map((each) => make("code", "", each.id))),
				foreign("", reason),
			])),
		clear.length > 0 && make("details", "", make("summary", "", `${clear.length} clear`), list));
}
