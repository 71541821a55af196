/* Processes as rows: how deep each is, and which ones a search leaves. */
import { visible } from "../common/text";
import type { Process, Timeline } from "./document";

export interface Row {
	process: Process;
	depth: number;
	/* Found by the search itself, and not only above something that was. */
	found: boolean;
}

export function endOf(process: Process): number {
	return process.start + process.life;
}

/* In the order of the document: parents before children. */
export function rowsOf(timeline: Timeline): Row[] {
	const depths = new Map<number, number>();

	return timeline.processes.map((process) => {
		const depth = process.parent === null ? 0 : (depths.get(process.parent) ?? 0) + 1;

		depths.set(process.id, depth);
		return { process, depth, found: false };
	});
}

/* A number is a pid, any other text part of a name or a command line, in any case. */
function matches(process: Process, words: string): boolean {
	if (/^\d+$/.test(words) && String(process.pid) === words)
		return true;
	return visible(process.command ?? process.name).toLowerCase().includes(words) || visible(process.name).toLowerCase().includes(words);
}

/* Those that match, each below those above it. An empty search leaves all. */
export function search(rows: readonly Row[], text: string): Row[] {
	const words = text.trim().toLowerCase();
	const kept = new Set<number>();

	if (!words)
		return rows.map((row) => ({ ...row, found: false }));
	const marked = rows.map((row) => ({ ...row, found: matches(row.process, words) }));
	/* Children come behind their parents. */
	for (const row of [...marked].reverse()) {
		if (!row.found && !kept.has(row.process.id))
			continue;
		kept.add(row.process.id);
		if (row.process.parent !== null)
			kept.add(row.process.parent);
	}
	return marked.filter((row) => kept.has(row.process.id));
}
