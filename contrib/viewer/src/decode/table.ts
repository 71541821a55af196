/* A table's definition and its rows (docs/format.md, Objects and Rows). */
import { damaged, fnv64 } from "./damage";

export const U64 = 1, I64 = 2, F64 = 3, STRING = 4, HISTOGRAM = 5;
const KEY = 1;

/* Of a slot: an integer, exact; a double; the bytes of a string; null: absent. */
export type Slot = number | bigint | Uint8Array | null;
export type Value = number | bigint | string | null | (number | bigint | null)[];

export interface Column {
	name: string;
	type: number;
	semantics: number;
	unit: number;
	mul: number;
	div: number;
	counted: string;
	wrap: number;
	slots: number;
	/* Its first slot. */
	slot: number;
}

const text = new TextDecoder();

function number(value: unknown): number {
	return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : damaged("a table is not well formed");
}

function name(value: unknown): string {
	return typeof value === "string" ? value : value instanceof Uint8Array ? text.decode(value) : damaged("a table is not well formed");
}

/* Modulo 2^64, where it does not fit a double exactly; an i64 is the same 64 bits. */
export function add(before: Slot, by: number | bigint, signed: boolean): number | bigint {
	const from = typeof before === "number" || typeof before === "bigint" ? before : 0;
	const sum = typeof from === "number" && typeof by === "number" ? from + by : NaN;

	if (Number.isSafeInteger(sum) && (signed || sum >= 0))
		return sum;
	const whole = BigInt(from) + BigInt(by);
	const exact = signed ? BigInt.asIntN(64, whole) : BigInt.asUintN(64, whole);
	const plain = Number(exact);

	return Number.isSafeInteger(plain) ? plain : exact;
}

export class Table {
	readonly columns: Column[] = [];
	/* The type of each slot. */
	readonly types: number[] = [];
	readonly rows = new Map<number, Slot[]>();
	readonly events: boolean;

	constructor(
		readonly instance: string,
		readonly name: string,
		private readonly hash: bigint,
		private readonly flags: number,
		private readonly ncolumns: number,
	) {
		this.events = (flags & 1) === 1;
		if (ncolumns > 4096)
			damaged("a table has more than 4,096 columns");
	}

	static from(items: readonly unknown[]): Table {
		const [instance, of, hash, flags, ncolumns, ...columns] = items;
		const table = new Table(name(instance), name(of), typeof hash === "bigint" ? hash : BigInt(number(hash)), number(flags), number(ncolumns));

		table.add(columns);
		return table;
	}

	add(columns: readonly unknown[]): void {
		for (const each of columns) {
			if (!Array.isArray(each) || this.columns.length === this.ncolumns)
				damaged("a table is not well formed");
			const [of, type, semantics, unit, mul = 1, div = 1, counted = "", wrap = 0, , slots = 0] = each as unknown[];

			this.columns.push({
				name: name(of), type: number(type), semantics: number(semantics), unit: number(unit), mul: number(mul), div: number(div),
				counted: name(counted), wrap: number(wrap), slots: number(slots), slot: this.types.length,
			});
			if (this.types.length + (number(slots) || 1) > 16384)
				damaged("a table has more than 16,384 slots");
			for (let i = 0; i < (number(slots) || 1); i++)
				this.types.push(number(type));
		}
		if (this.whole && this.digest() !== this.hash)
			damaged(`the table ${this.name} does not fit its hash`);
	}

	get whole(): boolean {
		return this.columns.length === this.ncolumns;
	}

	private digest(): bigint {
		const bytes: number[] = [];
		const put = (words: string): void => void bytes.push(...new TextEncoder().encode(words), 0);
		const put32 = (...values: number[]): void => values.forEach((value) => bytes.push(value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24));

		put(this.name);
		put32(this.flags);
		for (const column of this.columns) {
			put(column.name);
			put(column.counted);
			put32(column.type, column.semantics, column.unit, column.mul, column.div, column.wrap, column.slots);
		}
		return fnv64(Uint8Array.from(bytes));
	}

	private value(row: readonly Slot[], column: Column): Value {
		const plain = (slot: number): Slot => row[slot] ?? null;

		if (column.type === HISTOGRAM) {
			const all = Array.from({ length: column.slots }, (_, i) => plain(column.slot + i) as number | bigint | null);

			return all.some((each) => each !== null) ? all : null;
		}
		const value = plain(column.slot);

		return value instanceof Uint8Array ? text.decode(value) : value;
	}

	/* Keys and values by name, as `sonde cat --json` has them; what is absent is left out. */
	fields(row: readonly Slot[]): { keys: Record<string, Value>; values: Record<string, Value> } {
		const keys: [string, Value][] = [], values: [string, Value][] = [];

		for (const column of this.columns) {
			const value = this.value(row, column);

			if (value !== null)
				(column.semantics === KEY ? keys : values).push([column.name, value]);
		}
		return { keys: Object.fromEntries(keys), values: Object.fromEntries(values) };
	}
}
