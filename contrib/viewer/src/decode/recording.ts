/* A .sonde recording in the browser: the instants of all its segments, and what could not be read. */
import { Damage, damaged } from "./damage";
import { objectsOf } from "./objects";
import { add, F64, I64, STRING, Table, type Slot } from "./table";
import { unitsOf } from "./units";

const ROWS_MOST = 1 << 20, STRINGS_MOST = 1 << 20, TABLES_MOST = 1024;

export interface Anchor {
	boottime: bigint;
	realtime: bigint;
}

export interface Header {
	host: string;
	label: string;
	kernel: string;
	arch: string;
	version: string;
	boot_id: string;
	user_hz: number;
	ncpus: number;
	utc_offset: number;
	anchor: Anchor;
}

/* Tables that were read at one moment. Their rows are of this instant until the next one is asked for. */
export interface Instant {
	header: Header;
	sequence: bigint;
	/* CLOCK_BOOTTIME, ns; and `begin` as ns since 1970, by the newest anchor. */
	begin: bigint;
	end: bigint;
	time: bigint;
	tables: Table[];
}

type Fields = Record<string, unknown>;

function big(value: unknown): bigint {
	return typeof value === "bigint" ? value : typeof value === "number" && Number.isInteger(value) ? BigInt(value) : damaged("a number is none");
}

function said(fields: Fields, name: string): string {
	const value = fields[name];

	return typeof value === "string" ? value : value instanceof Uint8Array ? new TextDecoder().decode(value) : "";
}

function headerOf(value: unknown): Header {
	const fields = typeof value === "object" && value !== null ? (value as Fields) : damaged("a header is no map");
	const anchor = (fields["anchor"] ?? {}) as Fields;
	const count = (name: string): number => (typeof fields[name] === "number" ? fields[name] : 0);

	if (fields["format"] !== 1)
		damaged(`it has format ${String(fields["format"])}, and this page reads format 1: take the page of a newer sonde`);
	return {
		host: said(fields, "host"), label: said(fields, "label"), kernel: said(fields, "kernel"), arch: said(fields, "arch"),
		version: said(fields, "version"), boot_id: said(fields, "boot_id"), user_hz: count("user_hz") || 100, ncpus: count("ncpus"),
		utc_offset: count("utc_offset"), anchor: { boottime: big(anchor["boottime"] ?? 0), realtime: big(anchor["realtime"] ?? 0) },
	};
}

/* The places of 32 bits that are set, lowest first, behind the first `n` of `slots`. Returns how many are there now. */
function addBits(bits: number, from: number, slots: number[], n: number): number {
	for (; bits; bits &= bits - 1)
		slots[n++] = from + 31 - Math.clz32(bits & -bits);
	return n;
}

/* Those of a bitmap: a number, or bytes where it has more than 64. */
function bitsOf(bitmap: unknown, slots: number[]): number {
	let n = 0;

	if (bitmap instanceof Uint8Array) {
		bitmap.forEach((byte, i) => (n = addBits(byte, 8 * i, slots, n)));
		return n;
	}
	if (typeof bitmap === "number" && Number.isSafeInteger(bitmap) && bitmap >= 0)
		return addBits(Math.floor(bitmap / 2 ** 32), 32, slots, addBits(bitmap | 0, 0, slots, 0));
	if (typeof bitmap === "bigint" && bitmap >= 0n)
		return addBits(Number(bitmap >> 32n) | 0, 32, slots, addBits(Number(bitmap & 0xffffffffn) | 0, 0, slots, 0));
	return damaged("a bitmap is no number");
}

/* What is known within a segment: nothing of it outlives one. */
class Segment {
	private header: Header | null = null;
	private readonly tables: Table[] = [];
	private readonly strings: Uint8Array[] = [];
	private readonly read = new Set<Table>();
	/* Of the row that is taken: the places of its new values. */
	private readonly slots: number[] = [];
	private sequence = -1n;
	private begin = 0n;

	constructor(private readonly clock: { anchor: Anchor | null }) {}

	/* An instant, where the object ends one. */
	take(object: readonly unknown[]): Instant | null {
		const [type, ...items] = object;

		switch (type) {
		case 0:
			this.header = headerOf(items[0]);
			if (!this.clock.anchor || this.header.anchor.boottime > this.clock.anchor.boottime)
				this.clock.anchor = this.header.anchor;
			return null;
		case 1:
			if (items[0] !== this.tables.length || this.tables.length === TABLES_MOST)
				damaged("a table has another number than its place");
			this.tables.push(Table.from(items.slice(1)));
			return null;
		case 8:
			this.table(items[0]).add(items.slice(1));
			return null;
		case 3:
			for (const each of items)
				this.strings.push(each instanceof Uint8Array ? each : damaged("a string is no bytes"));
			if (this.strings.length > STRINGS_MOST)
				damaged("a segment has more than 1,048,576 strings");
			return null;
		case 7:
			this.takeRows(items[0], items.slice(1));
			return null;
		case 4:
			return this.takeInstant(items);
		default:
			return null; /* help, the start of a block, or a newer version's */
		}
	}

	private table(number: unknown): Table {
		return (typeof number === "number" ? this.tables[number] : undefined) ?? damaged("rows are of no table");
	}

	private takeInstant(items: readonly unknown[]): Instant {
		const [sequence, begin, length, structure, ...values] = items;

		this.sequence += 1n + big(sequence);
		this.begin += big(begin);
		this.takeRows(structure, values);
		if (!this.header || !this.clock.anchor)
			return damaged("an instant comes before the header");
		const tables = [...this.read];
		this.read.clear();
		for (const table of tables)
			if (table.events && table.name === "anchor")
				this.takeAnchor(table);
		const { boottime, realtime } = this.clock.anchor;
		return {
			header: this.header, sequence: this.sequence, begin: this.begin, end: this.begin + big(length),
			time: realtime + this.begin - boottime, tables,
		};
	}

	private takeAnchor(table: Table): void {
		for (const row of table.rows.values()) {
			const { values } = table.fields(row);

			this.clock.anchor = { boottime: big(values["boottime"] ?? 0), realtime: big(values["realtime"] ?? 0) };
		}
	}

	private takeRows(structure: unknown, values: readonly unknown[]): void {
		const shape = Array.isArray(structure) ? (structure as unknown[]) : damaged("rows have no structure");
		let at = 0, value = 0;
		const next = (): number => {
			const number = shape[at++];

			return typeof number === "number" && Number.isInteger(number) ? number : damaged("a structure is no list of numbers");
		};

		while (at < shape.length) {
			const number = next(), table = this.table(number < 0 ? -1 - number : number);
			let row = 0;

			if (!this.read.has(table)) {
				this.read.add(table);
				if (table.events)
					table.rows.clear();
			}
			for (let count = next(); count > 0; count--) {
				row += next();
				value = this.takeRow(table, row++, shape[at++], values, value);
			}
		}
		if (value !== values.length)
			damaged("an instant has other values than its structure says");
	}

	/* Returns the place behind its values. */
	private takeRow(table: Table, number: number, bitmap: unknown, values: readonly unknown[], at: number): number {
		if (bitmap === null) {
			if (!table.rows.delete(number))
				damaged("a row ends that does not live");
			return at;
		}
		let row = table.rows.get(number);
		if (!row) {
			if (number < 0 || number > table.rows.size + ROWS_MOST || table.rows.size === ROWS_MOST || !table.whole)
				damaged("a row has no place");
			table.rows.set(number, (row = new Array<Slot>(table.types.length).fill(null)));
		}
		for (let n = bitsOf(bitmap, this.slots), i = 0; i < n; i++) {
			const slot = this.slots[i]!;

			if (slot >= row.length || at >= values.length)
				damaged("a row has values that it has no column for");
			row[slot] = this.slotOf(table.types[slot]!, row[slot]!, values[at++]);
		}
		return at;
	}

	private slotOf(type: number, before: Slot, value: unknown): Slot {
		if (value === null)
			return null;
		if (type === STRING)
			return (typeof value === "number" ? this.strings[value] : undefined) ?? damaged("a string is not there");
		if (typeof value !== "number" && typeof value !== "bigint")
			return damaged("a value is no number");
		if (type === F64)
			return Number(value);
		if (typeof value === "number" && !Number.isInteger(value))
			return damaged("a count is no whole number");
		return add(before, value, type === I64);
	}
}

/* All instants that can be read, in order. What can't is told in a line each: `tell`. Throws Damage where nothing could be. */
export function* instantsOf(bytes: Uint8Array, tell: (problem: string) => void = () => {}): Generator<Instant> {
	const clock = { anchor: null };
	let any = false, first: string | null = null;

	for (const unit of unitsOf(bytes)) {
		const segment = new Segment(clock);
		let wrong = unit.damage;

		try {
			for (const block of unit.blocks) {
				for (const object of objectsOf(block)) {
					const instant = segment.take(object);

					if (!instant)
						continue;
					any = true;
					yield instant;
				}
			}
		} catch (error) {
			if (!(error instanceof Damage))
				throw error;
			wrong = error.message;
		}
		if (unit.torn)
			tell("it was cut off: what was whole was read");
		if (wrong !== null) {
			first ??= wrong;
			tell(`damaged, and left out up to the next segment: ${wrong}`);
		}
	}
	if (!any)
		damaged(first ?? "there is nothing in it but its beginning");
}
