"""docs/format.md is enough to read a recording: a reader by that page alone, on stock LZ4 and msgpack, against `sonde cat`.

Cases of the corpus: 190 (concatenated recordings are all read). The recording in tests/data was made by version 1 of the format:
every later sonde reads it.
"""

import json
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from captured import configuration, make_tree
from forging import F64, FRAME, HISTOGRAM, INDEX, MARK, STRING, fnv

msgpack = pytest.importorskip("msgpack")
frames = pytest.importorskip("lz4.frame")

DATA = Path(__file__).resolve().parents[1] / "data"
MASK = 2**64 - 1


class Table:
    def __init__(self, instance, name, digest, flags, ncolumns, *columns):
        self.instance, self.name, self.hash, self.events, self.ncolumns = instance, name, digest, flags & 1, ncolumns
        self.flags, self.columns, self.rows = flags, [], {}
        self.add(columns)

    def add(self, columns):
        defaults = [None] * 4 + [1, 1, "", 0, 0, 0]
        self.columns += [list(column) + defaults[len(column) :] for column in columns]
        self.slots = [(i, n) for i, c in enumerate(self.columns) for n in range(c[9] or 1)]
        if len(self.columns) == self.ncolumns:
            data = self.name.encode() + b"\0" + struct.pack("<I", self.flags)
            for name, kind, semantics, unit, mul, div, counted, wrap, _, slots in self.columns:
                data += name.encode() + b"\0" + counted.encode() + b"\0"
                data += struct.pack("<7I", kind, semantics, unit, mul, div, wrap, slots)
            assert fnv(data, 64) == self.hash

    def row(self, values):
        """Keys and values as `sonde cat --json` has them; what is absent is left out."""
        parts = ({}, {})
        for i, column in enumerate(self.columns):
            got = [values.get(slot) for slot, (of, _) in enumerate(self.slots) if of == i]
            if any(value is not None for value in got):
                parts[column[2] != 1][column[0]] = got if column[1] == HISTOGRAM else got[0]
        return parts


def signed(table, slot, value):
    return value - 2**64 if table.columns[table.slots[slot][0]][1] == 2 and value >> 63 else value


class Reader:
    def __init__(self, data):
        self.data, self.out, self.anchor = data, [], None

    def read(self):
        at = 0
        while at < len(self.data):
            (magic,) = struct.unpack_from("<I", self.data, at)
            if magic == FRAME:
                lz4 = frames.LZ4FrameDecompressor()
                self.segment(lz4.decompress(self.data[at:]))
                assert lz4.eof
                at = len(self.data) - len(lz4.unused_data)
                continue
            (length,) = struct.unpack_from("<I", self.data, at + 4)
            if magic == MARK:
                assert fnv(self.data[at + 8 : at + 36], 32) == struct.unpack_from("<I", self.data, at + 36)[0]
                assert self.data[at + 32 : at + 36] == b"sond"
            else:
                assert magic == INDEX
                self.index(at, self.data[at + 8 : at + 8 + length])
            at += 8 + length
        return self.out

    def index(self, at, payload):
        assert payload[-8:] == b"sondeidx" and struct.unpack("<I", payload[-16:-12])[0] == len(payload)
        assert fnv(payload[:-12], 32) == struct.unpack("<I", payload[-12:-8])[0]
        for entry in range(0, len(payload) - 40, 32):
            distance, number, begin, end = struct.unpack_from("<4Q", payload, entry)
            magic, _, of, segment = struct.unpack_from("<II16sQ", self.data, at - distance)
            assert (magic, of, segment) == (MARK, payload[-40:-24], number) and begin <= end

    def segment(self, content):
        self.tables, self.strings, self.sequence, self.begin, self.sampled = [], [], -1, 0, []
        for kind, *items in self.objects(content):
            getattr(self, f"take_{kind}", lambda *_: None)(*items)

    @staticmethod
    def objects(content):
        unpacker = msgpack.Unpacker(strict_map_key=False, max_buffer_size=len(content) + 1)
        unpacker.feed(content)
        return unpacker

    def take_0(self, header):
        assert header["format"] == 1
        self.header = header
        if not self.anchor or header["anchor"]["boottime"] > self.anchor["boottime"]:
            self.anchor = header["anchor"]

    def take_1(self, number, *definition):
        assert number == len(self.tables)
        self.tables.append(Table(*definition))

    def take_8(self, number, *columns):
        self.tables[number].add(columns)

    def take_3(self, *strings):
        self.strings += strings

    def take_7(self, structure, *values):
        structure, values = iter(structure), iter(values)
        for number in structure:
            table = self.tables[number if number >= 0 else -1 - number]
            if table not in self.sampled:
                self.sampled.append(table)
                if table.events:
                    table.rows = {}
            row = 0
            for _ in range(next(structure)):
                row += next(structure)
                self.take_row(table, row, next(structure), values)
                row += 1
        assert next(values, self) is self

    def take_row(self, table, number, bitmap, values):
        if bitmap is None:
            del table.rows[number]
            return
        if isinstance(bitmap, bytes):
            bitmap = int.from_bytes(bitmap, "little")
        row = table.rows.setdefault(number, {})
        for slot in range(len(table.slots)):
            if not bitmap >> slot & 1:
                continue
            value = next(values)
            kind = table.columns[table.slots[slot][0]][1]
            if value is not None and kind == STRING:
                value = self.strings[value]
            elif value is not None and kind != F64:
                value = (row.get(slot) or 0) + value & MASK
            row[slot] = value

    def take_4(self, sequence, begin, end, structure, *values):
        self.sequence, self.begin = self.sequence + 1 + sequence, self.begin + begin
        self.take_7(structure, *values)
        for table in self.sampled:
            for number in table.rows if table.name == "anchor" and table.events else ():
                self.anchor = table.row(table.rows[number])[1]
        time = self.anchor["realtime"] + self.begin - self.anchor["boottime"]
        for table in self.sampled:
            for row in table.rows.values():
                keys, rest = table.row({slot: signed(table, slot, v) if isinstance(v, int) else v for slot, v in row.items()})
                self.out.append((self.sequence, self.begin, time, table.instance, table.name, keys, rest))
        self.sampled = []


def plain(value):
    """Bytes as JSON has them: what is not UTF-8 becomes the replacement character."""
    if isinstance(value, bytes):
        return value.decode(errors="replace") if is_utf8(value) else None
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


def is_utf8(value):
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def essence(rows):
    """In an order of their own: rows of a table have none. Names that JSON can't hold are left out on both sides."""
    return sorted(json.dumps([*head, plain(keys), plain(rest)], sort_keys=True) for *head, keys, rest in rows)


def printed(text):
    """The rows of `sonde cat --json`."""
    rows = []
    for line in text.splitlines():
        row = json.loads(line)
        for part in (row["keys"], row["values"]):
            for name, value in part.items():
                part[name] = None if isinstance(value, str) and "\ufffd" in value else value
        rows.append((row["sequence"], row["boottime"], row["time"], row["instance"], row["table"], row["keys"], row["values"]))
    return rows


def example(root):
    blocks = re.findall(r"```hex\n(.*?)```", (root / "docs/format.md").read_text(), re.DOTALL)
    return bytes.fromhex(blocks[0])


def change(tree, n):
    """Other numbers in the same places: the files are held open, and are never seen half-written."""
    for name, text in (
        ("loadavg", f"{n:02}.50 1.{n:02} 10.00 3/456 {789 - n}\n"),
        ("pressure/cpu", f"some avg10={n:02}.34 avg60=0.00 avg300=0.00 total={2**63 + n * 977}\n"),
    ):
        with open(tree / "proc" / name, "r+b" if n else "wb", buffering=0) as file:
            file.write(text.encode())


def test_a_reader_by_the_page_reads_what_cat_prints(agent, sonde, tmp_path, wait_until):
    """Every value: rows that change, end and begin, names that are no UTF-8, integers beyond 2^63."""
    tree = make_tree(tmp_path / "tree")
    path, config = tmp_path / "a.sonde", tmp_path / "agent.ini"
    config.write_text(configuration(tree, f"[sink:file]\npath = {path}\nflush = 0s\n", interval="10ms"))
    change(tree, 0)
    running = agent("agent", "-c", config)
    size = 0

    def grown():
        nonlocal size
        now = path.stat().st_size if path.exists() else 0
        size, before = max(now, size), size
        return now > before

    for n in range(12):
        change(tree, n)
        if n == 5:
            shutil.rmtree(tree / "proc/3")
        wait_until(grown)
    assert running.end() == 0
    data = path.read_bytes()
    got = Reader(data).read()
    cat = sonde("cat", "--json", path, check=True)
    assert len({row[0] for row in got}) >= 12 and len({row[-1].get("load1") for row in got}) >= 5
    assert essence(got) == essence(printed(cat.stdout))


def test_concatenated_recordings(sonde, root, tmp_path):
    """Case 190: both are read, by the page and by sonde."""
    both = tmp_path / "both.sonde"
    second = bytearray(example(root).replace(b"an example's id", b"another's id 12"))
    second[36:40] = struct.pack("<I", fnv(second[8:36], 32))
    second[-12:-8] = struct.pack("<I", fnv(second[-72:-12], 32))
    both.write_bytes(example(root) + second)
    got = Reader(both.read_bytes()).read()
    assert len(got) == 10
    assert essence(got) == essence(printed(sonde("cat", "--json", both, check=True).stdout))


def test_the_example_of_the_page(sonde, root, tmp_path):
    """The bytes of the page are a recording, and hold what the page says."""
    path = tmp_path / "example.sonde"
    path.write_bytes(example(root))
    want = [
        (sequence, 4000 + 1000 * sequence, 1700000000000003000 + 1000 * sequence, "disk", "disk", {"name": name}, values)
        for sequence, name, values in (
            (1, b"sda", {"reads": 7, "level": 0.5}),
            (1, b"sdb", {"reads": 300, "level": 1.25}),
            (2, b"sda", {"reads": 12, "level": 0.5}),
            (2, b"sdb", {"reads": 299, "level": 1.25}),
            (3, b"sda", {"reads": 12}),
        )
    ]
    assert Reader(example(root)).read() == want
    assert essence(printed(sonde("cat", "--json", path, check=True).stdout)) == essence(want)
    page = re.findall(r"```hex\n(.*?)```", (root / "docs/format.md").read_text(), re.DOTALL)[1]
    spelled = b"".join(bytes.fromhex(line[:48].replace("...", "")) for line in page.splitlines())
    content = frames.decompress(example(root)[40:])
    header = spelled.index(bytes.fromhex("9a0100"))
    assert content.startswith(spelled[:header]) and content.endswith(spelled[header:])


def test_stock_lz4_gives_plain_msgpack(root, tmp_path):
    if not shutil.which("lz4"):
        pytest.skip("no lz4(1)")
    path = tmp_path / "example.sonde"
    path.write_bytes(example(root))
    content = subprocess.run(["lz4", "-dc", path], capture_output=True, check=True).stdout
    kinds = [item[0] for item in Reader.objects(content)]
    assert kinds == [6, 0, 1, 2, 3, 4, 4, 4]


@pytest.mark.parametrize("version", sorted(path.stem for path in DATA.glob("v*.sonde")))
def test_recordings_of_every_version_are_read(sonde, version):
    """What was printed of it when that version was released is printed today, new members aside."""
    done = sonde("cat", "--json", DATA / f"{version}.sonde", check=True)
    want = [json.loads(line) for line in (DATA / f"{version}.jsonl").read_text().splitlines()]
    got = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(got) == len(want) > 0 and done.stderr == ""
    for new, old in zip(got, want):
        assert {key: new[key] for key in old} == old


def test_there_is_a_recording_of_this_version():
    assert (DATA / "v1.sonde").stat().st_size < 30 << 10
