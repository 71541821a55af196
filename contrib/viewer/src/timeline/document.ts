/* The document of `sonde timeline --json`, docs/timeline.schema.json; checked where it comes in, so that nothing that draws it has
 * to look twice. */

/* Seconds since the recording's begin; bytes; null is not known. */
export type Amount = number | null;

export interface Lane {
	begin: number;
	until: number[];
	/* Mean number of threads in each state, a value for each stretch. */
	running: Amount[];
	waiting: Amount[];
	blocked: Amount[];
}

export interface Process {
	id: number;
	parent: number | null;
	pid: number;
	ppid: number;
	name: string;
	command: string | null;
	start: number;
	life: number;
	ended: boolean;
	cpu: Amount;
	run_queue_wait: Amount;
	disk_wait: Amount;
	peak_rss: Amount;
	read: Amount;
	written: Amount;
	faults: Amount;
	major_faults: Amount;
	context_switches: Amount;
	short_lived_cpu: Amount;
	exit_status: Amount;
	exit_signal: Amount;
	critical: boolean;
	threads: Amount;
	lane: Lane;
}

export interface Series {
	name: string;
	chart: string;
	title: string;
	unit: string;
	counted: string;
	origin: string;
	value: Amount[];
}

export interface Charts {
	begin: number;
	until: number[];
	series: Series[];
}

export interface Timeline {
	meta: { document: string; format: number; host: string; label: string; kernel: string; arch: string; version: string };
	window: { begin: string | null; seconds: number };
	cpus: Amount;
	grain: Amount;
	left_out: number;
	charts: Charts;
	processes: Process[];
}

/* Says in one line where a document is not as its schema has it. */
export class DocumentError extends Error {}

type Fields = Record<string, unknown>;

function fail(where: string, what: string): never {
	throw new DocumentError(`${where}: ${what}`);
}

function object(value: unknown, where: string): Fields {
	if (typeof value !== "object" || value === null || Array.isArray(value))
		fail(where, "is no object");
	return value as Fields;
}

function array(value: unknown, where: string): unknown[] {
	return Array.isArray(value) ? value : fail(where, "is no array");
}

function plain(value: unknown): value is number {
	return typeof value === "number" && Number.isFinite(value);
}

function number(value: unknown, where: string): number {
	/* An integer above 2^53: near enough to be drawn. */
	const near = typeof value === "bigint" ? Number(value) : value;

	return plain(near) ? near : fail(where, "is no number");
}

function amount(value: unknown, where: string): Amount {
	return value === null ? null : number(value, where);
}

function text(value: unknown, where: string): string {
	return typeof value === "string" ? value : fail(where, "is no text");
}

function flag(value: unknown, where: string): boolean {
	return typeof value === "boolean" ? value : fail(where, "is neither true nor false");
}

/* Of the two below: there are a million values in a large document, and to say where each one stands takes longer than all else. So
 * that is done for those alone that are no plain number. */
function times(value: unknown, begin: number, where: string): number[] {
	let before = begin;

	return array(value, where).map((each, i) => {
		const time = plain(each) ? each : number(each, `${where}[${i}]`);

		if (time < before)
			fail(`${where}[${i}]`, "is before the one in front of it");
		before = time;
		return time;
	});
}

function aligned(value: unknown, length: number, where: string): Amount[] {
	const values = array(value, where);

	if (values.length !== length)
		fail(where, `has ${values.length} values, and until ${length}`);
	return values.map((each, i) => (plain(each) ? each : amount(each, `${where}[${i}]`)));
}

function lane(value: unknown, where: string): Lane {
	const from = object(value, where);
	const begin = number(from["begin"], `${where}.begin`);
	const until = times(from["until"], begin, `${where}.until`);

	return {
		begin,
		until,
		running: aligned(from["running"], until.length, `${where}.running`),
		waiting: aligned(from["waiting"], until.length, `${where}.waiting`),
		blocked: aligned(from["blocked"], until.length, `${where}.blocked`),
	};
}

function process(value: unknown, where: string, seen: Set<number>): Process {
	const from = object(value, where);
	const id = number(from["id"], `${where}.id`);
	const parent = amount(from["parent"], `${where}.parent`);
	const of = (name: keyof Process): Amount => amount(from[name], `${where}.${name}`);

	if (seen.has(id))
		fail(`${where}.id`, "is another process's too");
	if (parent !== null && !seen.has(parent))
		fail(`${where}.parent`, "does not stand before it");
	seen.add(id);
	return {
		id,
		parent,
		pid: number(from["pid"], `${where}.pid`),
		ppid: number(from["ppid"], `${where}.ppid`),
		name: text(from["name"], `${where}.name`),
		command: from["command"] === null ? null : text(from["command"], `${where}.command`),
		start: number(from["start"], `${where}.start`),
		life: number(from["life"], `${where}.life`),
		ended: flag(from["ended"], `${where}.ended`),
		cpu: of("cpu"),
		run_queue_wait: of("run_queue_wait"),
		disk_wait: of("disk_wait"),
		peak_rss: of("peak_rss"),
		read: of("read"),
		written: of("written"),
		faults: of("faults"),
		major_faults: of("major_faults"),
		context_switches: of("context_switches"),
		short_lived_cpu: of("short_lived_cpu"),
		exit_status: of("exit_status"),
		exit_signal: of("exit_signal"),
		threads: of("threads"),
		critical: flag(from["critical"], `${where}.critical`),
		lane: lane(from["lane"], `${where}.lane`),
	};
}

function series(value: unknown, length: number, where: string): Series {
	const from = object(value, where);
	const named = (name: string): string => text(from[name], `${where}.${name}`);

	return {
		name: named("name"),
		chart: named("chart"),
		title: named("title"),
		unit: named("unit"),
		counted: named("counted"),
		origin: named("origin"),
		value: aligned(from["value"], length, `${where}.value`),
	};
}

function charts(value: unknown): Charts {
	const from = object(value, "charts");
	const begin = number(from["begin"], "charts.begin");
	const until = times(from["until"], begin, "charts.until");

	return {
		begin,
		until,
		series: array(from["series"], "charts.series").map((each, i) => series(each, until.length, `charts.series[${i}]`)),
	};
}

/* Of a parsed JSON document. Throws DocumentError where it is none. */
export function parseTimeline(value: unknown): Timeline {
	const from = object(value, "the document");
	const meta = object(from["meta"], "meta");
	const window = object(from["window"], "window");
	const seen = new Set<number>();
	const said = (name: string): string => text(meta[name], `meta.${name}`);

	if (meta["document"] !== "sonde timeline")
		fail("meta.document", "is not \"sonde timeline\": sonde timeline --json writes what this shows");
	if (meta["format"] !== 1)
		fail("meta.format", "is not 1: take the page of the sonde that wrote it");
	return {
		meta: {
			document: said("document"),
			format: 1,
			host: said("host"),
			label: said("label"),
			kernel: said("kernel"),
			arch: said("arch"),
			version: said("version"),
		},
		window: {
			begin: window["begin"] === null ? null : text(window["begin"], "window.begin"),
			seconds: number(window["seconds"], "window.seconds"),
		},
		cpus: amount(from["cpus"], "cpus"),
		grain: amount(from["grain"], "grain"),
		left_out: number(from["left_out"], "left_out"),
		charts: charts(from["charts"]),
		processes: array(from["processes"], "processes").map((each, i) => process(each, `processes[${i}]`, seen)),
	};
}
