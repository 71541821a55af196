/* What is known of one process, in words: beside the pointer, and at the side once it is pinned. */
import type { Clock } from "../common/clock";
import { make } from "../common/dom";
import { sayValue } from "../common/units";
import type { Amount, Process } from "./document";
import { endOf } from "./rows";
import { STATES, sharesBetween, stretchAt, TITLES, type Shares } from "./states";

type Line = readonly [name: string, value: string, className?: string];

function list(lines: readonly Line[], className = ""): HTMLElement {
	return make("dl", className, ...lines.flatMap(([name, value, of]) => [make("dt", of ?? "", name), make("dd", "", value)]));
}

function seconds(value: Amount): string {
	return sayValue(value === null ? null : value * 1e9, "ns", "");
}

function shareLines(shares: Shares): Line[] {
	return STATES.filter((state) => shares[state] >= 0.0005).map((state) => [TITLES[state], sayValue(shares[state], "ratio", ""), state]);
}

function lifeOf(process: Process): string {
	return process.ended ? seconds(process.life) : `${seconds(process.life)}, and on`;
}

function exitOf(process: Process): Line[] {
	if (process.exit_signal !== null)
		return [["ended by signal", String(process.exit_signal)]];
	return process.exit_status === null ? [] : [["exit status", String(process.exit_status)]];
}

/* The stretch under the pointer. */
export function tip(process: Process, moment: number, clock: Clock): HTMLElement {
	const lane = process.lane, i = stretchAt(lane.until, moment);
	const begin = i ? lane.until[i - 1]! : lane.begin, end = lane.until[i];
	const lines: Line[] = [["pid", String(process.pid)], ["life", lifeOf(process)], ["at", `${clock.known ? clock.time(moment) : moment.toFixed(3)}`]];
	const known = end !== undefined && moment >= begin;

	return make(
		"div",
		"",
		make("div", "name", process.command ?? process.name),
		list(lines),
		moment < process.start || moment > endOf(process)
			? null
			: known
				? make("div", "", `for ${seconds(end - begin)}`, list(shareLines(sharesBetween(lane, begin, end)), "shares"))
				: make("div", "", "what it did here is unknown"),
	);
}

export function details(process: Process, clock: Clock): HTMLElement {
	const lane = process.lane;
	const at = (moment: number): string => (clock.known ? clock.time(moment, 2) : `${moment.toFixed(3)} s`);
	const count = (value: Amount): string => (value === null ? "-" : String(value));
	const bytes = (value: Amount): string => sayValue(value, "bytes", "");
	const end = lane.until.at(-1) ?? lane.begin;

	return make(
		"div",
		"",
		make("h2", "", process.name),
		make("p", "command", process.command ?? "its command line is not recorded"),
		list([
			["pid", String(process.pid)],
			["parent", String(process.ppid)],
			["began", at(process.start)],
			["lived", lifeOf(process)],
			...exitOf(process),
			["threads, most seen", count(process.threads)],
			...(process.critical ? ([["set the time", "yes, of the chain that all waited for"]] as const) : []),
		]),
		end > lane.begin ? list(shareLines(sharesBetween(lane, lane.begin, end)), "shares") : null,
		list([
			["CPU time", seconds(process.cpu)],
			["waited for a CPU", seconds(process.run_queue_wait)],
			["blocked on disk", seconds(process.disk_wait)],
			["short-lived below it", seconds(process.short_lived_cpu)],
			["peak RSS", bytes(process.peak_rss)],
			["read from disk", bytes(process.read)],
			["written to disk", bytes(process.written)],
			["page faults", count(process.faults)],
			["that waited for I/O", count(process.major_faults)],
			["context switches", count(process.context_switches)],
		]),
	);
}
