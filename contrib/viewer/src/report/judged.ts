/* What belongs together in a report: findings of one kind, and what was not judged for one reason. As in the text report. */
import type { Finding, Judgement } from "./document";

export interface Told {
	finding: Finding;
	/* One before it has the same advice. */
	said: boolean;
}

/* Those of one kind stand together, where the heaviest of them is. */
export function inOrder(findings: Finding[]): Told[] {
	const kinds = new Map<string, Finding[]>();

	for (const finding of findings) {
		const kind = `${finding.severity} ${finding.id}`;

		kinds.set(kind, [...(kinds.get(kind) ?? []), finding]);
	}
	return [...kinds.values()].flatMap((kind) =>
		kind.map((finding, i) => ({ finding, said: i > 0 && finding.action === kind[0]!.action })),
	);
}

/* "no psi (why)": what stands in the brackets of a reason that has nothing but them behind its table; else all of it. */
function causeOf(reason: string): string {
	const open = reason.indexOf(" (");

	return open < 0 || reason.includes("); ") || !reason.endsWith(")") ? reason : reason.slice(open + 2, -1);
}

export interface Unjudged {
	reason: string;
	judgements: Judgement[];
}

/* Once for each cause. */
export function notJudged(judgements: Judgement[]): Unjudged[] {
	const causes = new Map<string, Judgement[]>();

	for (const judgement of judgements)
		if (judgement.verdict === "not_judged") {
			const cause = causeOf(judgement.reason);

			causes.set(cause, [...(causes.get(cause) ?? []), judgement]);
		}
	return [...causes].map(([cause, of]) => ({ reason: of.length > 1 ? cause : of[0]!.reason, judgements: of }));
}
