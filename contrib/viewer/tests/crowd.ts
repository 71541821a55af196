/* A document of many processes, the same each time: a build that goes on for ten minutes. */
import type { Amount, Process, Series, Timeline } from "../src/timeline/document";

/* Numbers from 0 to below 1 (Numerical Recipes' linear congruential generator). */
export function numbers(): () => number {
	let state = 7;

	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

const SECONDS = 600, POINTS = 3000;
const NAMES = ["make", "sh", "cc1", "as", "ld", "python3"];

function round(value: number): number {
	return Math.round(value * 1000) / 1000;
}

function processOf(id: number, above: Process | undefined, next: () => number): Process {
	const start = above ? round(above.start + next() * above.life * 0.8) : 0;
	const life = above ? round(Math.min(SECONDS - start, next() * 12 + 0.01)) : SECONDS;
	const name = NAMES[id % NAMES.length]!;
	const until: number[] = [], running: Amount[] = [], waiting: Amount[] = [], blocked: Amount[] = [];

	for (let at = start; at < start + life;) {
		const ran = next(), waited = next() * (1 - ran);

		at = Math.min(start + life, round(at + 0.1 + next()));
		until.push(at);
		running.push(round(ran));
		waiting.push(round(waited));
		blocked.push(next() < 0.02 ? null : next() < 0.2 ? round((1 - ran - waited) * next()) : 0);
	}
	return {
		id, parent: above?.id ?? null, pid: 1000 + id, ppid: above?.pid ?? 1, name,
		command: `/usr/bin/${name} --job=${id} -O2 -o out/file_${id}.o src/file_${id}.c`,
		start, life, ended: true, cpu: life / 2, run_queue_wait: life / 10, disk_wait: null, peak_rss: 1048576 * (id % 90), read: 0,
		written: 4096, faults: 100, major_faults: 0, context_switches: null, short_lived_cpu: 0, exit_status: 0, exit_signal: null,
		critical: id % 97 === 0, threads: 1, lane: { begin: start, until, running, waiting, blocked },
	};
}

function seriesOf(chart: string, unit: string, counted: string, value: (i: number) => Amount): Series {
	return { name: chart, chart, title: `of ${chart}`, unit, counted, origin: "", value: Array.from({ length: POINTS }, (_, i) => value(i)) };
}

export function crowd(count: number): Timeline {
	const next = numbers();
	const processes: Process[] = [];

	for (let id = 0; id < count; id++) {
		const near = Math.max(0, id - 1 - Math.floor(next() * 40));

		processes.push(processOf(id, next() < 0.7 ? processes[0] : processes[near], next));
	}
	return {
		meta: { document: "sonde timeline", format: 1, host: "many", label: "", kernel: "6.1.0", arch: "x86_64", version: "0.1" },
		window: { begin: "2026-11-30T05:06:28.100000+05:45", seconds: SECONDS },
		cpus: 4,
		grain: null,
		left_out: 0,
		charts: {
			begin: 0,
			until: Array.from({ length: POINTS }, (_, i) => round(((i + 1) * SECONDS) / POINTS)),
			series: [
				seriesOf("CPU", "none", "CPUs", (i) => round(2 + Math.sin(i / 100))),
				seriesOf("memory", "bytes", "", (i) => (i < 100 ? null : 1e9 + i * 1e5)),
			],
		},
		processes,
	};
}
