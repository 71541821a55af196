/* A build as `sonde profile -i 100ms` would record it, as a fixture for `sonde replay`: the processes of crowd(), sampled. */
import { crowd, numbers } from "../tests/crowd";
import type { Process } from "../src/timeline/document";

const STEP = 0.1, TICK = 0.01;
const BOOT = 60_000_000_000;

type Value = number | string | [number, number | string][];

/* Of a counter that grows while its process is sampled, now more and now less, in units of `unit` seconds; `share`: of the time. */
function grown(from: number, until: number, process: Process, share: number, unit: number, next: () => number): Value {
	const values: [number, number][] = [];
	let amount = (from * STEP - process.start) * share;

	for (let i = from; i <= until; i++, amount += STEP * share * 2 * next())
		values.push([i, Math.floor(amount / unit)]);
	return values.filter(([, value], i) => !i || value !== values[i - 1]![1]);
}

function rowOf(process: Process, instants: number, next: () => number): { from: number; until: number; values: Record<string, Value> } | null {
	const from = Math.ceil(process.start / STEP), until = Math.min(instants - 1, Math.floor((process.start + process.life) / STEP));
	const share = (process.id % 10) / 10;
	const counter = (of: number, unit: number): Value => grown(from, until, process, of, unit, next);

	if (from > until)
		return null;
	return {
		from,
		until,
		values: {
			pid: process.pid, start_time: Math.floor(BOOT / 1e7 + process.start / TICK), comm: process.name, cmdline: process.command ?? "", ppid: process.ppid,
			state: "S", num_threads: 1, minflt: counter(1000, 1), majflt: 0, vm_hwm: 1024 * (process.id % 90),
			vm_rss: counter(100, 1), utime: counter(share, TICK), stime: counter(share / 10, TICK), sched_run: counter(share * 1.1, 1e-9),
			sched_wait: counter(0.05, 1e-9),
		},
	};
}

/* JSON, of `count` processes in ten minutes. */
export function build(count: number): string {
	const { processes, window } = crowd(count), next = numbers(), instants = Math.round(window.seconds / STEP) + 1;
	const number = (name: string, semantics: string, more: object = {}) => ({ name, semantics, ...more });
	const text = (name: string) => ({ name, type: "string", semantics: "info" });
	const ticks = { unit: "ns", mul: 0 }, ns = { unit: "ns" }, kilobytes = { unit: "bytes", mul: 1024 };

	return JSON.stringify({
		meta: { document: "sonde fixture", format: 1 },
		host: { name: "builder", label: "a large build", ncpus: 8, online: "0-7", user_hz: 100, page_size: 4096, anchor: { boottime: BOOT, realtime: 1767603600 * 1e9 } },
		instants: Array.from({ length: instants }, (_, i) => BOOT + Math.round(i * STEP * 1e9)),
		tables: [
			{
				name: "process",
				columns: [
					number("pid", "key"), number("start_time", "key", ticks), text("comm"), text("cmdline"), text("state"), number("ppid", "state"),
					number("num_threads", "gauge"), number("minflt", "counter"), number("majflt", "counter"), number("utime", "counter", ticks),
					number("stime", "counter", ticks), number("sched_run", "counter", ns), number("sched_wait", "counter", ns),
					number("vm_hwm", "gauge", kilobytes), number("vm_rss", "gauge", kilobytes),
				],
				rows: processes.map((process) => rowOf(process, instants, next)).filter((row) => row !== null),
			},
			{ name: "end", events: true, columns: [text("reason")], rows: [{ from: instants - 1, values: { reason: "command" } }] },
		],
	});
}
