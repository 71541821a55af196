/* Recordings: the example of docs/format.md, which is worked out there by hand, and what becomes of it when it is damaged. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { Damage } from "../src/decode/damage";
import { instantsOf } from "../src/decode/recording";
import { add } from "../src/decode/table";
import { load, said } from "../src/timeline/load";
import { crowd } from "./crowd";

/* Its 495 bytes. */
const EXAMPLE = Uint8Array.from(Buffer.from(
	"532a4d1820000000616e206578616d706c652773206964000000000000000000736f6e64d5aa99fe04224d185450c060010000f04a91069200de0010a6666f72" +
	"6d617401a873746172745f696401a7757365725f687a64a9706167655f73697a65cd1000a56e6370757302a776657273696f6ea0a4686f7374a477656231aa6d" +
	"616368696e655f6964a0a7626f6f4500f030a0a66b65726e656ca0a461726368a0a56c6162656ca0a66f6e6c696e65a0a56e6f646573a0a47461677380a6616e" +
	"63686f7286a96d6f6e6f746f6e696300a84600c074696d65cd03e8a87265616c0c00f123cf17979cfe362a0000a66f666673657400a96d61785f6572726f7200" +
	"ac73796e6368726f6e69736564009a0100a46469736b0500f211cf79e90ce1376f0bef000394a46e616d6504010197a5726561647301020201010b00f30094a5" +
	"6c6576656c0303079b020000a00100709303c4037364610500f000629b0401cd1388cd012c96000200070200f305ca3f00000001cd012cca3fa00000970400cd" +
	"03e820006702000205ff9612005001c0fe04c0dd49f8b900000000e97b6c26542a4d18480000009f0100000000000000000000000000008813000000000000" +
	"841c000000000000616e206578616d706c6527732069640000000000000000004800000010e152ab736f6e6465696478", "hex"));

function read(bytes: Uint8Array): { rows: string[]; problems: string[] } {
	const rows: string[] = [], problems: string[] = [];

	for (const { sequence, begin, end, time, tables } of instantsOf(bytes, (problem) => problems.push(problem)))
		for (const table of tables)
			for (const [number, row] of table.rows) {
				const { keys, values } = table.fields(row);

				rows.push([sequence, begin, end, time, table.name, number, JSON.stringify(keys), JSON.stringify(values)].join(" "));
			}
	return { rows, problems };
}

/* As docs/format.md has it, line by line. */
const ROWS = [
	'1 5000 5300 1700000000000004000 disk 0 {"name":"sda"} {"reads":7,"level":0.5}',
	'1 5000 5300 1700000000000004000 disk 1 {"name":"sdb"} {"reads":300,"level":1.25}',
	'2 6000 6300 1700000000000005000 disk 0 {"name":"sda"} {"reads":12,"level":0.5}',
	'2 6000 6300 1700000000000005000 disk 1 {"name":"sdb"} {"reads":299,"level":1.25}',
	'3 7000 7300 1700000000000006000 disk 0 {"name":"sda"} {"reads":12}',
];

test("the example reads as its page says", () => {
	assert.equal(EXAMPLE.length, 495);
	assert.deepEqual(read(EXAMPLE), { rows: ROWS, problems: [] });
});

test("recordings behind one another are all read", () => {
	assert.deepEqual(read(Uint8Array.from([...EXAMPLE, ...EXAMPLE])), { rows: [...ROWS, ...ROWS], problems: [] });
});

test("cut anywhere, it gives what was whole or says that there is nothing", () => {
	for (let length = 0; length < EXAMPLE.length; length++) {
		const part = EXAMPLE.slice(0, length);

		if (length < 40 + 7 + 4 + 0x160 + 4) {
			assert.throws(() => read(part), Damage);
			continue;
		}
		assert.deepEqual(read(part).rows, ROWS, `${length} bytes`);
	}
});

test("a bit that is wrong is never a wrong number", () => {
	for (let at = 0; at < EXAMPLE.length; at++) {
		const spoiled = EXAMPLE.slice();

		spoiled[at]! ^= 1 << (at % 8);
		try {
			const { rows } = read(spoiled);

			assert.deepEqual(rows, ROWS, `byte ${at}`);
		} catch (error) {
			assert.ok(error instanceof Damage, `byte ${at}: ${String(error)}`);
		}
	}
});

test("zeros behind it are what a power cut leaves", () => {
	assert.deepEqual(read(Uint8Array.from([...EXAMPLE, ...new Uint8Array(5000)])), { rows: ROWS, problems: [] });
});

test("what is damaged in the middle is told, and the next segment read", () => {
	/* The same stream's next segment: number 1, and the mark's checksum with it. */
	const second = EXAMPLE.slice(0, 415), first = EXAMPLE.slice(0, 415);

	second[24] = 1;
	let sum = 0x811c9dc5;
	for (const byte of second.subarray(8, 36))
		sum = Math.imul(sum ^ byte, 0x01000193) >>> 0;
	new DataView(second.buffer).setUint32(36, sum, true);
	first[100]! ^= 8;
	const { rows, problems } = read(Uint8Array.from([...first, ...second]));
	assert.deepEqual(rows, ROWS);
	assert.deepEqual(problems, ["damaged, and left out up to the next segment: a block does not fit its checksum"]);
});

test("what is none is told in a line", () => {
	const line = (bytes: Uint8Array): string | null => {
		try {
			load(bytes);
		} catch (error) {
			return said(error);
		}
		return null;
	};

	assert.equal(line(new Uint8Array()), "this file is empty");
	assert.match(line(Buffer.from("\x7fELF and so on")) ?? "", /^this is no recording of sonde's/);
	assert.match(line(Buffer.from('{"a": ')) ?? "", /JSON/);
	assert.match(line(Buffer.from('{"meta": 1}')) ?? "", /^meta: is no object$/);
	assert.match(line(EXAMPLE) ?? "", /^it has no processes/);
});

test("counters go on modulo 2^64, exactly", () => {
	assert.equal(add(5, 7, false), 12);
	assert.equal(add(Number.MAX_SAFE_INTEGER, 2, false), 9007199254740993n);
	assert.equal(add(3, -5, false), 18446744073709551614n);
	assert.equal(add(18446744073709551614n, 5, false), 3);
	assert.equal(add(3, -5, true), -2);
	assert.equal(add(null, 18446744073709551615n, true), -1);
});

test("cli.mjs draws SVG, and says what is wrong", () => {
	const run = (input: string, ...words: string[]) => spawnSync(process.execPath, ["dist/cli.mjs", ...words], { input, encoding: "utf8" });
	const drawn = run(JSON.stringify(crowd(20)), "-", "900");

	assert.equal(drawn.status, 0, drawn.stderr);
	assert.match(drawn.stdout, /^<svg [^>]*width="900"/);
	for (let i = 0; i < 20; i++)
		assert.ok(drawn.stdout.includes(`--job=${i} `));
	assert.deepEqual([run("", "-").status, run("", "-").stderr], [1, "-: this file is empty\n"]);
	assert.equal(run("").status, 2);
	assert.equal(run("", "-", "wide").status, 2);
});
