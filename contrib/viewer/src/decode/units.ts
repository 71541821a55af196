/* A recording as a sequence of units: marks, LZ4 frames, indexes (docs/format.md; LZ4 frame format 1.6.4). Each frame is given as the
 * content of its whole blocks; every checksum is looked at before anything else is. */
import { xxHash32 } from "js-xxhash";
import { decompressBlock } from "lz4js";
import { Damage, damaged, fnv32 } from "./damage";

const MARK = 0x184d2a53, FRAME = 0x184d2204, MARK_BYTES = 40;
const BLOCK_MOST = 256 << 10, WINDOW = 64 << 10, SEGMENT_MOST = 64 << 20;

export interface Unit {
	/* Content of the blocks of a segment, in order, each for itself. */
	blocks: Uint8Array[];
	/* Why it ended before its end; null: it did not. A torn tail is no damage: `torn`. */
	damage: string | null;
	torn: boolean;
}

interface Mark {
	id: string;
	number: bigint;
}

class Bytes {
	private readonly view: DataView;

	constructor(readonly bytes: Uint8Array) {
		this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	}

	get length(): number {
		return this.bytes.length;
	}

	has(at: number, length: number): boolean {
		return at + length <= this.bytes.length;
	}

	u32(at: number): number {
		return this.has(at, 4) ? this.view.getUint32(at, true) : 0;
	}

	u64(at: number): bigint {
		return this.view.getBigUint64(at, true);
	}

	part(at: number, length: number): Uint8Array {
		return this.bytes.subarray(at, at + length);
	}

	/* Zeros to the end are what a power cut leaves. */
	zeros(at: number): boolean {
		return this.bytes.subarray(at).every((byte) => byte === 0);
	}
}

function markAt(file: Bytes, at: number): Mark | null {
	if (!file.has(at, MARK_BYTES) || file.u32(at) !== MARK || file.u32(at + 4) !== 32)
		return null;
	if (file.u32(at + 32) !== 0x646e6f73 || file.u32(at + 36) !== fnv32(file.part(at + 8, 28)))
		return null;
	return { id: Array.from(file.part(at + 8, 16)).join(), number: file.u64(at + 24) };
}

function isSkippable(magic: number): boolean {
	return (magic & 0xfffffff0) >>> 0 === 0x184d2a50;
}

/* One block into the window behind the 64 KiB before it: blocks are linked. */
class Inflater {
	private readonly window = new Uint8Array(WINDOW + BLOCK_MOST + 64);
	private before = 0;
	private readonly parts: Uint8Array[] = [];
	private total = 0;

	take(data: Uint8Array, packed: boolean): Uint8Array {
		const from = this.before;
		let end: number;

		if (packed) {
			end = decompressBlock(data, this.window, 0, data.length, from);
		} else {
			this.window.set(data.subarray(0, BLOCK_MOST), from);
			end = from + data.length;
		}
		if (end - from > BLOCK_MOST || end < from)
			damaged("a block is larger than 256 KiB");
		this.total += end - from;
		if (this.total > SEGMENT_MOST)
			damaged("a segment is larger than 64 MiB");
		const content = this.window.slice(from, end);
		const keep = Math.min(end, WINDOW);

		this.parts.push(content);
		this.window.copyWithin(0, end - keep, end);
		this.before = keep;
		return content;
	}

	checksum(): number {
		const whole = new Uint8Array(this.total);
		let at = 0;

		for (const part of this.parts) {
			whole.set(part, at);
			at += part.length;
		}
		return xxHash32(whole);
	}
}

/* The LZ4 frame at `at`: its whole blocks, and where it ends. */
function frameAt(file: Bytes, at: number): { unit: Unit; end: number } {
	const unit: Unit = { blocks: [], damage: null, torn: false };
	const inflater = new Inflater();
	const torn = (where: number): { unit: Unit; end: number } => ({ unit: { ...unit, torn: true }, end: where });

	if (!file.has(at, 7))
		return torn(file.length);
	try {
		if (file.bytes[at + 4] !== 0x54 || file.bytes[at + 5] !== 0x50)
			damaged("a frame has another descriptor than sonde writes");
		if (file.bytes[at + 6] !== ((xxHash32(file.part(at + 4, 2)) >>> 8) & 0xff))
			damaged("a frame's descriptor does not fit its checksum");
		for (at += 7; ;) {
			const size = file.u32(at), length = size & 0x7fffffff;

			if (!file.has(at, 4) || (size === 0 && file.zeros(at)))
				return torn(file.length);
			if (size === 0) {
				if (!file.has(at, 8))
					return torn(file.length);
				if (file.u32(at + 4) !== inflater.checksum())
					damaged("a segment does not fit its checksum");
				return { unit, end: at + 8 };
			}
			if (length > BLOCK_MOST)
				damaged("a block is larger than 256 KiB");
			if (!file.has(at, 8 + length) || file.zeros(at + 4 + length))
				return torn(at);
			const data = file.part(at + 4, length);
			if (file.u32(at + 4 + length) !== xxHash32(data))
				damaged("a block does not fit its checksum");
			const content = inflater.take(data, size >>> 31 === 0);
			if (content[0] !== 0x91 || content[1] !== 0x06)
				damaged("a block does not begin as all do");
			unit.blocks.push(content);
			at += 8 + length;
		}
	} catch (error) {
		if (!(error instanceof Damage))
			throw error;
		return { unit: { ...unit, damage: error.message }, end: at };
	}
}

/* The next mark of the same stream with a higher number, behind damage. */
function nextMark(file: Bytes, from: number, before: Mark | null): number {
	for (let at = from; at + MARK_BYTES <= file.length; at++) {
		const mark = file.bytes[at] === 0x53 ? markAt(file, at) : null;

		if (mark && (!before || (mark.id === before.id && mark.number > before.number)))
			return at;
	}
	return file.length;
}

/* Every segment of a file. The first thing in it has to be a mark. */
export function* unitsOf(bytes: Uint8Array): Generator<Unit> {
	const file = new Bytes(bytes);
	let at = 0, mark: Mark | null = null;

	if (!markAt(file, 0))
		damaged(bytes.length ? "this is no recording of sonde's: it does not begin with its mark" : "this file is empty");
	while (at < file.length) {
		const magic = file.u32(at), here = markAt(file, at);
		let wrong: string | null = null;

		if (here) {
			mark = here;
			at += MARK_BYTES;
		} else if (magic === FRAME) {
			const { unit, end } = frameAt(file, at);
			/* Where the next thing is a mark, its writer was killed and another recording begins. */
			const goesOn: boolean = unit.torn && markAt(file, end) !== null;

			yield goesOn ? { ...unit, torn: true } : unit;
			at = unit.damage !== null || (unit.torn && !goesOn) ? nextMark(file, Math.max(end, at + 1), mark) : end;
		} else if (isSkippable(magic) && file.has(at, 8 + file.u32(at + 4))) {
			at += 8 + file.u32(at + 4);
		} else if (file.zeros(at) || (isSkippable(magic) && magic !== MARK)) {
			return; /* torn */
		} else {
			wrong = "something else stands between two segments";
			at = nextMark(file, at + 1, mark);
		}
		if (wrong)
			yield { blocks: [], damage: wrong, torn: false };
	}
}
