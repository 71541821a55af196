/* What `sonde report --json` writes: docs/report.schema.json, which a test of sonde holds it to. */

export type Value = number | bigint | null;
export type Severity = "info" | "warning" | "critical";

export interface Measured {
	value: Value;
	unit: string;
	counted: string;
}

export interface Evidence extends Measured {
	name: string;
	origin: string;
}

export interface When {
	begin: string | null;
	end: string | null;
	from: number;
	to: number;
	held: number;
}

export interface Finding {
	id: string;
	severity: Severity;
	about: string;
	title: string;
	evidence: Evidence[];
	why: string;
	action: string;
	need: string;
	risk: string;
	undo: string;
	when: When;
}

export interface Ignored {
	reason: string;
	until: string;
	finding: Finding;
}

export interface Judgement {
	id: string;
	title: string;
	verdict: "found" | "clear" | "not_judged" | "ignored";
	reason: string;
}

export interface Metric extends Measured {
	name: string;
	about: string;
	direction: "up" | "down" | "neither";
	origin: string;
}

export interface Cell extends Measured {
	metric: string;
}

export interface Use {
	resource: string;
	about: string;
	utilisation: Cell | null;
	saturation: Cell | null;
	errors: Cell | null;
}

export interface Series {
	metric: string;
	unit: string;
	counted: string;
	time: number[];
	value: (number | null)[];
}

export interface Topology {
	cpus: number;
	online: string;
	model?: string;
	sockets?: number;
	cores?: number;
	nodes: { node: number; cpus?: string; memory?: number; distances?: number[] }[];
	caches: { level: number; type: string; count: number; cpus: number; size?: number }[];
	governors: { governor: string; driver: string; cpus: number }[];
	huge_pages: {
		enabled?: string;
		defrag?: string;
		pools: { size: number; pages: Value; free: Value; reserved: Value }[];
	};
	settings: Record<string, string>;
}

export interface Gaps {
	instance: string;
	reason: string;
	text: string;
	count: Value;
	lost: Value;
	seconds: number | null;
}

export interface Report {
	meta: {
		document: "sonde report";
		format: number;
		version: string;
		host: string;
		label: string;
		kernel: string;
		arch: string;
		utc_offset: number;
	};
	topology: Topology;
	window: { begin: string | null; end: string | null; from?: number; to?: number; seconds: number; instants: Value };
	findings: Finding[];
	ignored: Ignored[];
	catalogue: { found: number; clear: number; ignored: number; not_judged: number; judgements: Judgement[] };
	metrics: Metric[];
	use: Use[];
	series: Series[];
	data_quality: {
		gaps: Gaps[];
		more_gaps: Value;
		notes: { instance: string; text: string }[];
		more_notes: Value;
		own_cpu: number | null;
		ended: string | null;
	};
}
