/* What a process did in a stretch of time, as shares of it that add up to 1. */
import type { Lane } from "./document";

export const STATES = ["running", "waiting", "blocked", "sleeping", "unknown"] as const;
export type State = (typeof STATES)[number];
export type Shares = Record<State, number>;

export const TITLES: Record<State, string> = {
	running: "running",
	waiting: "waiting for a CPU",
	blocked: "blocked on disk",
	sleeping: "sleeping",
	unknown: "unknown",
};

/* Of stretch i. Where more than one thread did something, their time is the whole; what is left of one slept, or nobody knows. */
export function sharesOf(lane: Lane, i: number): Shares {
	const running = lane.running[i] ?? null, waiting = lane.waiting[i] ?? null, blocked = lane.blocked[i] ?? null;
	const sum = (running ?? 0) + (waiting ?? 0) + (blocked ?? 0);
	const whole = Math.max(1, sum);
	const rest = Math.max(0, 1 - sum);
	const known = running !== null && waiting !== null && blocked !== null;

	return {
		running: (running ?? 0) / whole,
		waiting: (waiting ?? 0) / whole,
		blocked: (blocked ?? 0) / whole,
		sleeping: known ? rest : 0,
		unknown: known ? 0 : rest,
	};
}

/* The first index whose time is above `moment`: that of the stretch in which it lies. */
export function stretchAt(until: readonly number[], moment: number): number {
	let low = 0, high = until.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if ((until[middle] ?? Infinity) > moment)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Mean shares between two moments; what no stretch covers is unknown. */
export function sharesBetween(lane: Lane, from: number, to: number): Shares {
	const sum: Shares = { running: 0, waiting: 0, blocked: 0, sleeping: 0, unknown: 0 };
	let covered = 0;

	for (let i = stretchAt(lane.until, from); i < lane.until.length; i++) {
		const begin = Math.max(from, i ? lane.until[i - 1]! : lane.begin), end = Math.min(to, lane.until[i]!);
		const shares = sharesOf(lane, i);

		if (begin >= to)
			break;
		if (end <= begin)
			continue;
		for (const state of STATES)
			sum[state] += shares[state] * (end - begin);
		covered += end - begin;
	}
	sum.unknown += Math.max(0, to - from - covered);
	for (const state of STATES)
		sum[state] /= Math.max(to - from, 1e-12);
	return sum;
}
