/* Numbers in units that people read, to the letter as <sonde/page.h> has them in text: a report says the same on every page. */

type Scale = readonly [from: number, unit: string];

/* The largest that fits is taken, and divides; the last fits everything. */
const TIMES: readonly Scale[] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
const RATES: readonly Scale[] = [[1e9, "GHz"], [1e6, "MHz"], [1e3, "kHz"], [1, "Hz"]];
const SIZES: readonly Scale[] = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];

/* Like printf's %.*f: what lies half way between two goes to the even one, where toFixed() goes up. */
export function fixed(value: number, decimals: number): string {
	if (Math.abs(value) >= 1e21)
		return BigInt(value).toString();
	const up = value.toFixed(decimals);
	const [whole = "", rest = ""] = Math.abs(value).toFixed(60).split(".");
	if (!/^50*$/.test(rest.slice(decimals)))
		return up;
	const down = decimals ? `${whole}.${rest.slice(0, decimals)}` : whole;
	const last = Number(down.at(-1));
	return last % 2 ? up : value < 0 ? `-${down}` : down;
}

/* Three figures that mean something; whole numbers whole. */
function decimals(value: number): number {
	const size = Math.abs(value);

	if (size >= 100 || size === 0)
		return 0;
	return size >= 10 ? 1 : size >= 1 ? 2 : 3;
}

function scaled(value: number, scales: readonly Scale[]): string {
	const [divisor, unit] = scales.find(([from]) => Math.abs(value) >= from) ?? scales[scales.length - 1]!;
	const shown = value / divisor;

	return `${fixed(shown, decimals(shown))} ${unit}`;
}

/* "12.3 %", "4.20 ms", "3.10 GiB", "120 faults/s"; "-" for no number. `counted` says what a count counts, and per what. */
export function sayValue(value: number | bigint | null, unit: string, counted: string): string {
	if (typeof value === "bigint")
		return [value.toString(), counted || (unit === "none" ? "" : unit)].filter(Boolean).join(" ");
	if (value === null || !Number.isFinite(value))
		return "-";
	if (Math.abs(value) >= 1e24)
		return `${value.toExponential(2)} ${counted || unit}`;
	if (unit === "ratio")
		return `${fixed(value * 100, Math.abs(value) >= 0.001 || value === 0 ? 1 : 3)} %`;
	if (unit === "ns")
		return scaled(value, TIMES);
	if (unit === "bytes")
		return scaled(value, SIZES) + counted;
	if (unit === "hz")
		return scaled(value, RATES);
	return [fixed(value, decimals(value)), counted || (unit === "none" ? "" : unit)].filter(Boolean).join(" ");
}

/* "5.0 s", "2 min 5 s", "1 h 30 min". */
export function sayDuration(seconds: number): string {
	const whole = Math.round(seconds);

	if (whole < 120)
		return `${fixed(seconds, 1)} s`;
	if (whole < 7200)
		return `${Math.floor(whole / 60)} min ${whole % 60} s`;
	return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
}
