"""Recordings made by hand, object by object, by docs/format.md: what no writer of sonde would write too."""

import struct

import pytest

msgpack = pytest.importorskip("msgpack")
frames = pytest.importorskip("lz4.frame")

MARK, INDEX, FRAME = 0x184D2A53, 0x184D2A54, 0x184D2204
U64, I64, F64, STRING, HISTOGRAM = 1, 2, 3, 4, 5
KEY, COUNTER, GAUGE, STATE, INFO = 1, 2, 3, 4, 5
DEFAULTS = [None] * 4 + [1, 1, "", 0, 0, 0]


def fnv(data, bits):
    value, prime = (0x811C9DC5, 0x01000193) if bits == 32 else (0xCBF29CE484222325, 0x100000001B3)
    for byte in data:
        value = (value ^ byte) * prime % 2**bits
    return value


def with_defaults(column):
    return list(column) + DEFAULTS[len(column) :]


def table_hash(name, flags, columns):
    data = name.encode() + b"\0" + struct.pack("<I", flags)
    for column, kind, semantics, unit, mul, div, counted, wrap, _, slots in map(with_defaults, columns):
        data += column.encode() + b"\0" + counted.encode() + b"\0"
        data += struct.pack("<7I", kind, semantics, unit, mul, div, wrap, slots)
    return fnv(data, 64)


def header(**changed):
    anchor = {"monotonic": 1000, "boottime": 1000, "realtime": 1700000000 * 10**9, "offset": 0, "max_error": 0, "synchronised": 1}
    known = {"format": 1, "start_id": 7, "version": "1", "host": "forged", "machine_id": "m", "boot_id": "b", "kernel": "6.1",
             "arch": "x86_64", "label": "", "online": "0-1", "nodes": "0", "user_hz": 100, "page_size": 4096, "ncpus": 2,
             "utc_offset": 0, "tags": {}, "anchor": anchor}
    return [0, known | changed]


def table(number, name, *columns, flags=0, instance=None):
    return [1, number, instance or name, name, table_hash(name, flags, columns), flags, len(columns), *map(list, columns)]


def strings(*texts):
    return [3, *texts]


def instant(sequence, begin, end, structure, *values):
    return [4, sequence, begin, end, structure, *values]


def mark(number, ident=b"a forged stream."):
    payload = ident + struct.pack("<Q", number) + b"sond"
    return struct.pack("<II", MARK, 32) + payload + struct.pack("<I", fnv(payload, 32))


def segment(objects):
    """Those that are bytes go in as they are."""
    lz4 = frames.LZ4FrameCompressor(block_size=frames.BLOCKSIZE_MAX256KB, block_linked=True, content_checksum=True,
                                    block_checksum=True, auto_flush=True)
    begin = block = msgpack.packb([6])
    out = lz4.begin()
    for one in objects:
        packed = one if isinstance(one, bytes) else msgpack.packb(one)
        if len(block) + len(packed) > 256 << 10:
            out += lz4.compress(block)
            block = begin
        block += packed
    return out + lz4.compress(block) + lz4.flush()


def recording(*segments):
    return b"".join(mark(number) + segment(objects) for number, objects in enumerate(segments))
