/* The objects of a block: msgpack, within the limits of docs/format.md before anything is allocated for them. */
import { decodeMulti } from "@msgpack/msgpack";
import { damaged } from "./damage";

const ITEMS_MOST = 65536, DEPTH_MOST = 4;

/* Of each type (msgpack's specification, formats): the bytes of its length, 0 where it has none, and all that it has without what that
 * length says. */
const LENGTHS = new Uint8Array(256), BYTES = new Uint8Array(256).fill(1);

for (const [first, last, own] of [[0xc4, 0xc6, 1], [0xc7, 0xc9, 2], [0xd9, 0xdb, 1]] as const)
	for (let type: number = first; type <= last; type++)
		BYTES[type] = own + (LENGTHS[type] = 1 << (type - first));
for (const [first, bytes] of [[0xdc, 2], [0xdd, 4], [0xde, 2], [0xdf, 4]] as const)
	BYTES[first] = 1 + (LENGTHS[first] = bytes);
[5, 9, 2, 3, 5, 9, 2, 3, 5, 9, 3, 4, 6, 10, 18].forEach((bytes, i) => (BYTES[0xca + i] = bytes));
for (let type = 0xa0; type < 0xc0; type++)
	BYTES[type] = 1 + (type & 31);

function lengthAt(view: DataView, at: number, bytes: number): number {
	return bytes === 1 ? view.getUint8(at) : bytes === 2 ? view.getUint16(at) : view.getUint32(at);
}

/* Throws where an object has too many items or is too deep, or ends beyond the block. */
function checkObjects(bytes: Uint8Array): void {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	/* Items that are still to come, of the object and of each array or map that is open in it. */
	const open = new Float64Array(DEPTH_MOST + 2);

	for (let at = 0; at < bytes.length;) {
		let depth = 0, items = 0;

		open[0] = 1;
		while (depth >= 0) {
			if (open[depth] === 0) {
				depth--;
				continue;
			}
			if (at >= bytes.length)
				damaged("an object goes beyond its block");
			open[depth]!--;
			const type = bytes[at]!, sized = LENGTHS[type]!, length = sized ? lengthAt(view, at + 1, sized) : type & 15;

			at += BYTES[type]!;
			if (type < 0x80 || type >= 0xe0 || (type >= 0xa0 && type < 0xdc)) {
				at += sized ? length : 0;
				continue;
			}
			const inside = type < 0x90 || type >= 0xde ? 2 * length : length;

			items += inside;
			if (items > ITEMS_MOST)
				damaged("an object has more than 65,536 items");
			if (inside)
				open[++depth] = inside;
			if (depth > DEPTH_MOST)
				damaged("an object is deeper than four arrays");
		}
		if (at > bytes.length)
			damaged("an object goes beyond its block");
	}
}

export function* objectsOf(block: Uint8Array): Generator<unknown[]> {
	try {
		checkObjects(block);
		for (const object of decodeMulti(block, { useBigInt64: true }))
			yield Array.isArray(object) ? object : damaged("an object is no array");
	} catch (error) {
		/* Both say so of bytes that are no msgpack. */
		if (error instanceof RangeError || (error instanceof Error && error.name === "DecodeError"))
			damaged(`an object is no msgpack: ${error.message}`);
		throw error;
	}
}
