/* Who was recorded, when, and what machine that is. */
import { Clock, sayMoment } from "../common/clock";
import { facts, foreign, make, section, table, type Child } from "../common/dom";
import { sayDuration, sayValue } from "../common/units";
import type { Report } from "./document";

const SEVERITIES = ["critical", "warning", "info"] as const;

function plural(count: number, one: string): string {
	return `${count} ${one}${count === 1 ? "" : "s"}`;
}

/* Of an imported text it is not known how many there are: 0. */
function cpus(report: Report): string {
	const { sockets, cores, cpus, online } = report.topology;
	const parts = [sockets !== undefined && plural(sockets, "socket"), cores !== undefined && plural(cores, "core"), cpus > 0 && plural(cpus, "CPU")];

	return parts.filter(Boolean).join(", ") + (online && ` (${online})`);
}

function verdicts(report: Report): HTMLElement {
	const { found, clear, not_judged } = report.catalogue;
	const places = report.findings.length > found ? ` in ${report.findings.length} places` : "";
	const line = make("p", "verdict");

	for (const severity of SEVERITIES) {
		const count = report.findings.filter((finding) => finding.severity === severity).length;

		if (count)
			line.append(make("span", `count ${severity}`, make("b", "", String(count)), ` ${severity}`));
	}
	const ignored = report.ignored.length ? `, ${report.ignored.length} ignored` : "";

	line.append(make("span", "", `${found} found${places}${ignored}, ${clear} clear, ${not_judged} not judged`));
	return line;
}

/* By the clock of the host; of a recording without a date, since it began. */
function stretch(window: Report["window"], clock: Clock): string {
	if (clock.known)
		return `${sayMoment(window.begin, true)} to ${sayMoment(window.end, false)} ${clock.zone}: `;
	return window.from === undefined || window.to === undefined ? "" : `+${window.from.toFixed(1)} s to +${window.to.toFixed(1)} s: `;
}

export function head(report: Report, clock: Clock): HTMLElement {
	const { meta, topology, window } = report;
	const instants = window.instants === null ? "" : `, ${String(window.instants)} instants`;

	return make("header", "head",
		make("p", "kind soft", "sonde report"),
		make("h1", "", foreign("", meta.host || "unknown host"), !!meta.label && " ", !!meta.label && foreign("label", meta.label)),
		verdicts(report),
		facts("facts", [
			["Window", `${stretch(window, clock)}${sayDuration(window.seconds)}${instants}${clock.known ? "" : ", no date"}`],
			["Machine", cpus(report)],
			["CPU", topology.model && foreign("", topology.model)],
			["NUMA", topology.nodes.length > 0 && plural(topology.nodes.length, "node")],
			["System", foreign("", `Linux ${meta.kernel || "(unknown)"} ${meta.arch}`.trimEnd())],
		]));
}

function nodes(report: Report): Child {
	const { nodes } = report.topology;

	return nodes.length > 0 && table("", "NUMA nodes", ["node", "CPUs", ">memory", "distances"], nodes.map((node): Child[] => [
		String(node.node),
		node.cpus === undefined ? "\u2013" : node.cpus || "none",
		node.memory === undefined ? "\u2013" : sayValue(node.memory, "bytes", ""),
		(node.distances ?? []).join(" "),
	]));
}

function caches(report: Report): Child {
	const { caches } = report.topology;

	return caches.length > 0 && table("", "Caches", ["cache", ">size of each", ">how many", ">CPUs that share it"], caches.map((cache): Child[] => [
		foreign("", `L${cache.level} ${cache.type}`),
		cache.size === undefined ? "\u2013" : sayValue(cache.size, "bytes", ""),
		String(cache.count),
		String(cache.cpus),
	]));
}

function pools(report: Report): Child {
	const { pools } = report.topology.huge_pages;

	return pools.length > 0 && table("", "Huge page pools", ["page", ">pages", ">free", ">reserved"], pools.map((pool): Child[] => [
		sayValue(pool.size, "bytes", ""), String(pool.pages), String(pool.free), String(pool.reserved),
	]));
}

export function machineSection(report: Report): HTMLElement {
	const { governors, huge_pages, settings } = report.topology;
	const names = Object.keys(settings);

	return section("machine", "Machine",
		make("div", "columns", nodes(report), caches(report), pools(report),
			governors.length > 0 && table("", "Frequency", ["governor", "driver", ">CPUs"], governors.map((each): Child[] => [
				foreign("", each.governor), foreign("", each.driver), String(each.cpus),
			]))),
		facts("facts", [
			["THP", huge_pages.enabled && foreign("", huge_pages.enabled)],
			["THP defrag", huge_pages.defrag && foreign("", huge_pages.defrag)],
		]),
		names.length > 0 && make("details", "", make("summary", "", plural(names.length, "setting")),
			table("", "Settings", ["setting", "value"], names.map((name): Child[] => [
				make("code", "", name), foreign("", settings[name] ?? ""),
			]))));
}
