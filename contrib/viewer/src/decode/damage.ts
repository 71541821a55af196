/* What ends a segment: it is not as docs/format.md says. What was read before it counts. */
export class Damage extends Error {}

export function damaged(what: string): never {
	throw new Damage(what);
}

/* FNV-1a: 32 bits, of the marks. */
export function fnv32(bytes: Uint8Array): number {
	let value = 0x811c9dc5;

	for (const byte of bytes)
		value = Math.imul(value ^ byte, 0x01000193) >>> 0;
	return value;
}

/* And 64 bits, of tables. */
export function fnv64(bytes: Uint8Array): bigint {
	let value = 0xcbf29ce484222325n;

	for (const byte of bytes)
		value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
	return value;
}
