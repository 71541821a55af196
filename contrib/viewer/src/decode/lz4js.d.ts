/* What is used of lz4js, which has no types of its own. */
declare module "lz4js" {
	/* Inflates `length` bytes of a block at src[from] to dst[to]; matches may reach before `to`. Returns where it ended. */
	export function decompressBlock(src: Uint8Array, dst: Uint8Array, from: number, length: number, to: number): number;
}
