/* A timeline of what a recording's samples tell, made in the browser for one who dropped it there. `sonde timeline` knows more: those
 * whom no sample saw, what set the time, waits that go across samples. What is not made here is null. */
import type { Instant } from "../decode/recording";
import type { Slot, Table } from "../decode/table";
import type { Amount, Process, Series, Timeline } from "./document";

/* What a sample tells of the charts of sonde timeline (sinks/tree/charts.c), and what makes a value of a sum over a stretch of time. */
const CHARTS = [
	{ name: "cpu", chart: "CPU", title: "these processes", unit: "none", counted: "CPUs", origin: "/proc/PID/stat fields 14 15", of: share },
	{ name: "machine_cpu", chart: "CPU", title: "the whole machine", unit: "none", counted: "CPUs", origin: "/proc/stat cpu words 1 2 3 6 7", of: share },
	{ name: "waiting", chart: "run queue", title: "waiting for a CPU", unit: "none", counted: "threads", origin: "/proc/PID/schedstat field 2", of: share },
	{
		name: "blocked", chart: "run queue", title: "blocked on disk", unit: "none", counted: "threads",
		origin: "/proc/PID/stat field 42; where that is not counted, field 3 = D", of: share,
	},
	{ name: "rss", chart: "memory", title: "resident, shared pages in each", unit: "bytes", counted: "", origin: "/proc/PID/status VmRSS:", of: itself },
	{ name: "faults", chart: "faults", title: "without I/O", unit: "none", counted: "faults/s", origin: "/proc/PID/stat field 10", of: rate },
	{ name: "major_faults", chart: "faults", title: "that waited for I/O", unit: "none", counted: "faults/s", origin: "/proc/PID/stat field 12", of: rate },
	{ name: "read", chart: "I/O", title: "read, the whole machine", unit: "bytes", counted: "/s", origin: "/proc/vmstat pgpgin", of: rate },
	{ name: "written", chart: "I/O", title: "written, the whole machine", unit: "bytes", counted: "/s", origin: "/proc/vmstat pgpgout", of: rate },
] as const;
type Chart = (typeof CHARTS)[number]["name"];

/* Where a row has a value, and what makes base units of it; a slot of -1: its table has none by that name. */
interface Place {
	slot: number;
	scale: number;
}

const PROCESS = [
	"pid", "start_time", "ppid", "comm", "cmdline", "state", "num_threads", "sched_run", "sched_wait", "threads_wait", "delayacct_blkio_ticks", "utime",
	"stime", "vm_rss", "vm_hwm", "minflt", "majflt",
] as const;
const MACHINE = ["user", "nice", "system", "irq", "softirq"] as const;
const EXIT = ["pid", "tgid", "group", "exitcode", "etime"] as const;

/* Looked up once for a table, and not for each of its rows. */
function placesOf<Name extends string>(table: Table, hz: number, names: readonly Name[]): Record<Name, Place> {
	return Object.fromEntries(names.map((name): [Name, Place] => {
		const column = table.columns.find((each) => each.name === name);

		return [name, column ? { slot: column.slot, scale: (column.mul || 1e9 / hz) / column.div } : { slot: -1, scale: 1 }];
	})) as Record<Name, Place>;
}

function slotOf(row: readonly Slot[], { slot }: Place): Slot {
	return slot < 0 ? null : (row[slot] ?? null);
}

function numberOf(row: readonly Slot[], place: Place): Amount {
	const value = slotOf(row, place);

	return typeof value === "number" ? value * place.scale : typeof value === "bigint" ? Number(value) * place.scale : null;
}

const decoder = new TextDecoder();

/* The state D, of proc(5). */
const BLOCKED = 0x44;

function textOf(value: Slot): string | null {
	return value instanceof Uint8Array ? decoder.decode(value) : null;
}

/* ns since its birth, by the newest sample. */
interface Clocks {
	run: Amount;
	wait: Amount;
	blocked: Amount;
	cpu: Amount;
	threads: Amount;
	faults: Amount;
	majors: Amount;
}

interface Life {
	process: Process;
	/* The bytes that its name and its command line are of: a segment has each once. */
	comm: Slot;
	cmdline: Slot;
	clocks: Clocks;
	at: number;
	first: Clocks;
}

const BORN: Clocks = { run: 0, wait: 0, blocked: 0, cpu: 0, threads: 1, faults: 0, majors: 0 };

function passed(from: Amount, to: Amount): Amount {
	return from === null || to === null ? null : Math.max(0, to - from);
}

function plus(a: Amount, b: Amount): Amount {
	return a === null ? b : b === null ? a : a + b;
}

function seconds(ns: Amount): Amount {
	return ns === null ? null : ns / 1e9;
}

function share(ns: Amount, length: number): Amount {
	return ns === null ? null : Math.round((ns / 1e9 / length) * 1000) / 1000;
}

function rate(amount: Amount, length: number): Amount {
	return amount === null ? null : Math.round((amount / length) * 1000) / 1000;
}

function itself(amount: Amount): Amount {
	return amount;
}

/* RFC 3339, in the recorded host's zone. */
function moment(time: bigint, offset: number): string {
	const minutes = Math.trunc(offset / 60), size = Math.abs(minutes);
	const text = new Date(Number(time / 1000000n) + minutes * 60000).toISOString().slice(0, 23);
	const two = (value: number): string => String(value).padStart(2, "0");

	return text + (minutes ? `${minutes < 0 ? "-" : "+"}${two(Math.trunc(size / 60))}:${two(size % 60)}` : "Z");
}

class Builder {
	private readonly lives: Life[] = [];
	private readonly places = new Map<Table, Record<(typeof PROCESS)[number], Place>>();
	private readonly byPid = new Map<number, Life>();
	private readonly until: number[] = [];
	private readonly values = new Map<Chart, Amount[]>(CHARTS.map(({ name }) => [name, []]));
	private readonly sums = new Map<Chart, Amount>();
	/* Counters of the machine, by the newest sample. */
	private readonly machine = new Map<Chart, Amount>();
	private first: Instant | null = null;
	private last = 0;
	private sampled: number | null = null;
	private begun = 0; /* the first sample of processes */

	take(instant: Instant): void {
		this.first ??= instant;
		const at = Number(instant.end - this.first.begin) / 1e9;

		this.last = Math.max(this.last, at);
		for (const table of instant.tables) {
			const hz = instant.header.user_hz;

			if (table.name === "process")
				this.takeProcesses(table, hz, at, Number(this.first.begin));
			else if (table.name === "task_exit")
				this.takeExits(table, hz);
			else if (table.name === "stat")
				this.takeMachine(table, hz, { machine_cpu: MACHINE });
			else if (table.name === "vmstat")
				this.takeMachine(table, hz, { read: ["pgpgin"], written: ["pgpgout"] });
		}
	}

	private add(chart: Chart, amount: Amount): void {
		this.sums.set(chart, plus(this.sums.get(chart) ?? null, amount));
	}

	/* What its counters, several of them added up, grew by. */
	private takeMachine(table: Table, hz: number, charts: Partial<Record<Chart, readonly string[]>>): void {
		for (const row of table.rows.values())
			for (const [chart, names] of Object.entries(charts) as [Chart, readonly string[]][]) {
				const places = placesOf(table, hz, names), before = this.machine.get(chart) ?? null;
				const value = names.map((name) => numberOf(row, places[name]!)).reduce(plus, null);

				this.add(chart, value !== null && before !== null && value >= before ? value - before : null);
				this.machine.set(chart, value);
			}
	}

	private takeProcesses(table: Table, hz: number, at: number, origin: number): void {
		let places = this.places.get(table);

		if (!places)
			this.places.set(table, (places = placesOf(table, hz, PROCESS)));
		for (const row of table.rows.values())
			this.takeRow(row, places, at, origin);
		if (this.sampled !== null && at > this.sampled) {
			this.until.push(at);
			for (const { name, of } of CHARTS)
				this.values.get(name)!.push(of(this.sums.get(name) ?? null, at - this.sampled));
		}
		this.sums.clear();
		if (this.sampled === null)
			this.begun = at;
		this.sampled = at;
	}

	private takeRow(row: readonly Slot[], of: Record<(typeof PROCESS)[number], Place>, at: number, origin: number): void {
		const pid = numberOf(row, of.pid) ?? 0, start = ((numberOf(row, of.start_time) ?? 0) - origin) / 1e9;
		const clocks: Clocks = {
			run: numberOf(row, of.sched_run), wait: numberOf(row, of.threads_wait) ?? numberOf(row, of.sched_wait),
			blocked: numberOf(row, of.delayacct_blkio_ticks), cpu: plus(numberOf(row, of.utime), numberOf(row, of.stime)),
			threads: numberOf(row, of.num_threads), faults: numberOf(row, of.minflt), majors: numberOf(row, of.majflt),
		};
		const known = this.byPid.get(pid);
		const life = known?.process.start === start ? known : this.begin(pid, start, numberOf(row, of.ppid) ?? 0, at, clocks);
		const length = at - life.at, { process } = life;
		const ran = clocks.threads === 1 && life.clocks.threads === 1 ? passed(life.clocks.run, clocks.run) : null;
		const used = passed(life.clocks.cpu, clocks.cpu);
		const comm = slotOf(row, of.comm), cmdline = slotOf(row, of.cmdline);

		if (comm !== life.comm)
			process.name = textOf((life.comm = comm)) ?? process.name;
		if (cmdline !== life.cmdline)
			process.command = textOf((life.cmdline = cmdline)) ?? process.command;
		process.threads = clocks.threads === null ? process.threads : Math.max(process.threads ?? 0, clocks.threads);
		process.peak_rss = numberOf(row, of.vm_hwm) ?? process.peak_rss;
		process.cpu = seconds(passed(life.first.cpu, clocks.cpu));
		process.run_queue_wait = seconds(passed(life.first.wait, clocks.wait));
		process.disk_wait = seconds(passed(life.first.blocked, clocks.blocked));
		process.faults = clocks.faults;
		process.major_faults = clocks.majors;
		process.life = at - process.start;
		if (length > 0) {
			const waited = passed(life.clocks.wait, clocks.wait), running = ran ?? used;
			const rest = running === null || waited === null ? null : Math.max(0, length * 1e9 - running - waited);
			const state = slotOf(row, of.state);
			const blocked = passed(life.clocks.blocked, clocks.blocked) ?? (state instanceof Uint8Array ? (state[0] === BLOCKED ? rest : 0) : null);

			process.lane.until.push(at);
			process.lane.running.push(share(running, length));
			process.lane.waiting.push(share(waited, length));
			process.lane.blocked.push(share(blocked, length));
			this.add("waiting", waited);
			this.add("blocked", blocked);
		}
		this.add("cpu", used);
		this.add("rss", numberOf(row, of.vm_rss));
		this.add("faults", passed(life.clocks.faults, clocks.faults));
		this.add("major_faults", passed(life.clocks.majors, clocks.majors));
		life.clocks = clocks;
		life.at = at;
	}

	private begin(pid: number, start: number, ppid: number, at: number, clocks: Clocks): Life {
		const born = start >= -0.02 && Math.max(0, start) < at, begin = born ? Math.max(0, start) : at;
		const parent = this.byPid.get(ppid) ?? null;
		const process: Process = {
			id: this.lives.length, parent: parent?.process.id ?? null, pid, ppid, name: "?", command: null, start, life: 0, ended: false,
			cpu: null, run_queue_wait: null, disk_wait: null, peak_rss: null, read: null, written: null, faults: null, major_faults: null,
			context_switches: null, short_lived_cpu: null, exit_status: null, exit_signal: null, critical: false, threads: null,
			lane: { begin, until: [], running: [], waiting: [], blocked: [] },
		};
		const life: Life = { process, comm: null, cmdline: null, clocks: born ? BORN : clocks, first: born ? BORN : clocks, at: begin };

		this.lives.push(life);
		this.byPid.set(pid, life);
		return life;
	}

	private takeExits(table: Table, hz: number): void {
		const of = placesOf(table, hz, EXIT);

		for (const row of table.rows.values()) {
			const life = this.byPid.get(numberOf(row, of.pid) ?? -1), code = numberOf(row, of.exitcode), etime = numberOf(row, of.etime);

			if (!life || code === null || etime === null || numberOf(row, of.group) || (numberOf(row, of.tgid) ?? life.process.pid) !== life.process.pid)
				continue;
			life.process.ended = true;
			life.process.life = Math.max(etime / 1e9, life.at - life.process.start);
			life.process.exit_signal = code & 127 ? code & 127 : null;
			life.process.exit_status = code & 127 ? null : (code >> 8) & 255;
		}
	}

	/* Each below its parent, in the order of their start. */
	private inOrder(): Process[] {
		const below = new Map<number | null, Process[]>(), ordered: Process[] = [];

		for (const { process, at } of this.lives) {
			process.ended ||= at < (this.sampled ?? 0);
			const children = below.get(process.parent);

			if (children)
				children.push(process);
			else
				below.set(process.parent, [process]);
		}
		const open = (below.get(null) ?? []).reverse();
		for (let process = open.pop(); process; process = open.pop()) {
			ordered.push(process);
			open.push(...(below.get(process.id) ?? []).sort((a, b) => b.start - a.start));
		}
		return ordered;
	}

	timeline(): Timeline {
		const header = this.first?.header;

		return {
			meta: {
				document: "sonde timeline", format: 1, host: header?.host ?? "", label: header?.label ?? "", kernel: header?.kernel ?? "",
				arch: header?.arch ?? "", version: header?.version ?? "",
			},
			window: { begin: this.first && this.first.time !== this.first.begin ? moment(this.first.time, this.first.header.utc_offset) : null, seconds: this.last },
			cpus: header?.ncpus || null,
			grain: null,
			left_out: 0,
			charts: {
				begin: this.begun,
				until: this.until,
				series: CHARTS.map(({ of: _, ...series }): Series => ({ ...series, value: this.values.get(series.name)! })),
			},
			processes: this.inOrder(),
		};
	}
}

export function timelineOf(instants: Iterable<Instant>): Timeline {
	const builder = new Builder();

	for (const instant of instants)
		builder.take(instant);
	return builder.timeline();
}
