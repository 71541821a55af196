/* What somebody brings: a timeline's JSON, or a recording. */
import { parseExact } from "../common/json";
import { Damage } from "../decode/damage";
import { instantsOf } from "../decode/recording";
import { DocumentError, parseTimeline, type Timeline } from "./document";
import { timelineOf } from "./recorded";

export interface Loaded {
	timeline: Timeline;
	/* What could not be read, a line each. */
	problems: string[];
}

function isJson(bytes: Uint8Array): boolean {
	return bytes.find((byte) => byte > 0x20) === 0x7b;
}

/* Throws DocumentError, SyntaxError or Damage, with one line that says what is wrong. */
export function load(bytes: Uint8Array): Loaded {
	const problems: string[] = [];

	if (isJson(bytes))
		return { timeline: parseTimeline(parseExact(new TextDecoder().decode(bytes))), problems };
	const timeline = timelineOf(instantsOf(bytes, (problem) => problems.push(problem)));

	if (!timeline.processes.length)
		throw new DocumentError("it has no processes: sonde profile and sonde record write those");
	return { timeline, problems: [...new Set(problems)] };
}

/* One line for what load() throws; null: it is a fault of this program. */
export function said(error: unknown): string | null {
	return error instanceof DocumentError || error instanceof SyntaxError || error instanceof Damage ? error.message : null;
}
