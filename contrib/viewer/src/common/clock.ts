/* Times as the clock of the recorded host showed them, wherever the page is read. */

/* A moment of RFC 3339, "2026-11-30T05:06:28.100000+05:45": what it says is what is shown; nothing is converted. */
const MOMENT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/* "05:06:28.1", behind the day where `day`; "unknown". */
export function sayMoment(text: string | null, day: boolean): string {
	const [, date, time, fraction] = MOMENT.exec(text ?? "") ?? [];

	if (date === undefined)
		return "unknown";
	return `${day ? `${date} ` : ""}${time}${(fraction ?? ".0").slice(0, 2)}`;
}

export class Clock {
	/* Milliseconds of the host's wall clock, as if it were UTC, at second 0 of the window; 0 where that is not known. */
	private readonly origin: number;
	readonly zone: string;
	readonly known: boolean;

	constructor(begin: string | null) {
		const [, day, time, fraction, zone] = MOMENT.exec(begin ?? "") ?? [];

		this.known = day !== undefined;
		this.origin = this.known ? Date.parse(`${day}T${time}Z`) + Number(fraction ?? 0) * 1000 : 0;
		this.zone = zone === "Z" ? "UTC" : (zone ?? "");
	}

	/* Of an axis whose 0 is the window's begin: seconds between it and the last midnight before. */
	sinceMidnight(): number {
		return (this.origin % 86400000) / 1000;
	}

	private iso(seconds: number): string {
		return new Date(Math.floor(this.origin + seconds * 1000)).toISOString();
	}

	day(seconds: number): string {
		return this.iso(seconds).slice(0, 10);
	}

	/* "05:06:28.1": tenths as in the text report, by cutting; `digits` of them. */
	time(seconds: number, digits = 1): string {
		const text = this.iso(seconds).slice(11, 23);

		return digits ? text.slice(0, 9 + digits) : text.slice(0, 8);
	}
}

/* Steps that people count time in: seconds. */
const STEPS = [
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800,
	21600, 43200, 86400, 172800, 604800,
];

/* Where an axis from `min` to `max` (seconds since the window began) has its marks, at most `most`: on round times of the
 * clock. */
export function timeMarks(clock: Clock, min: number, max: number, most: number): number[] {
	const step = STEPS.find((each) => (max - min) / each <= most) ?? Math.ceil((max - min) / most / 604800) * 604800;
	const shift = clock.sinceMidnight() % step;
	const marks: number[] = [];

	for (let n = Math.ceil((min + shift) / step); n * step - shift <= max; n++)
		marks.push(n * step - shift);
	return marks;
}

/* What stands at such marks: as fine as they are apart. */
export function sayMarks(clock: Clock, marks: number[]): string[] {
	const step = marks.length > 1 ? marks[1]! - marks[0]! : 1;
	const digits = step >= 0.999 ? 0 : step >= 0.0999 ? 1 : step >= 0.00999 ? 2 : 3;

	return marks.map((mark) => {
		/* A mark is off by what a double leaves; its own instant is meant. */
		const at = mark + 1e-5;

		if (!clock.known)
			return `+${mark.toFixed(digits)}`;
		if (step > 86399)
			return clock.day(at);
		return step > 59.9 ? clock.time(at, 0).slice(0, 5) : clock.time(at, digits);
	});
}
