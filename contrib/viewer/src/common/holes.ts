/* Points of a quantity over time, and what is missing between them. */

export interface Points {
	unit: string;
	counted: string;
	/* Seconds since the window began; the middle of the stretch that each value is of. */
	time: number[];
	value: (number | null)[];
}

/* Points further apart than so many usual steps have something missing between them. */
const MISSING = 2.5;

/* With a hole where points are missing: a line through it would tell what nobody counted. */
export function withHoles(points: Points): [number[], (number | null)[]] {
	const steps = points.time.slice(1).map((time, i) => time - points.time[i]!);
	const usual = [...steps].sort((a, b) => a - b)[steps.length >> 1] ?? 0;
	const time: number[] = [], value: (number | null)[] = [];

	points.time.forEach((at, i) => {
		if (i && at - points.time[i - 1]! > usual * MISSING) {
			time.push((at + points.time[i - 1]!) / 2);
			value.push(null);
		}
		time.push(at);
		value.push(points.value[i] ?? null);
	});
	return [time, value];
}

/* Which values stand between holes: no line goes to them, so that they need a dot. */
export function lonely(value: (number | null)[]): number[] {
	const missing = (i: number) => (value[i] ?? null) === null;

	return [...value.keys()].filter((i) => !missing(i) && missing(i - 1) && missing(i + 1));
}
