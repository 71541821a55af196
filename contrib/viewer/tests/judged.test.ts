/* What stands together in a report; the text report's tests have the same rules. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Finding, Judgement } from "../src/report/document";
import { inOrder, notJudged } from "../src/report/judged";

function finding(id: string, severity: Finding["severity"], about: string, action: string): Finding {
	return {
		id, severity, about, action, title: "", evidence: [], why: "", need: "", risk: "", undo: "",
		when: { begin: null, end: null, from: 0, to: 1, held: 1 },
	};
}

test("findings of one kind stand where the heaviest is, and advice is given once", () => {
	const told = inOrder([
		finding("a", "critical", "1", "do"),
		finding("b", "critical", "1", "do"),
		finding("a", "critical", "2", "do"),
		finding("a", "critical", "3", "do something else"),
		finding("a", "warning", "4", "do"),
	]);

	assert.deepEqual(told.map(({ finding, said }) => `${finding.id}${finding.about}${said ? " said" : ""}`), ["a1", "a2 said", "a3", "b1", "a4"]);
});

test("what was not judged is told once for each cause", () => {
	const judgement = (id: string, reason: string): Judgement => ({ id, title: "", verdict: "not_judged", reason });
	const told = notJudged([
		judgement("a", "no psi (CONFIG_PSI is off)"),
		judgement("b", "no psi_cpu (CONFIG_PSI is off)"),
		judgement("c", "no perf_event (not recorded)"),
		judgement("d", "no x (why); no y (why)"),
		{ ...judgement("e", ""), verdict: "clear" },
	]);

	assert.deepEqual(told.map(({ reason, judgements }) => [reason, judgements.map((each) => each.id).join()]), [
		["CONFIG_PSI is off", "a,b"],
		["no perf_event (not recorded)", "c"],
		["no x (why); no y (why)", "d"],
	]);
});
