"""Recordings whose checksums are right and whose content is not: no verb crashes, believes a number that it was not given, or
prints a control character of a name; what is refused is refused in a line.

Cases of the corpus: 182, 183, 185, 187 (counts that lie, nesting without end), 151 and 153 (time that goes back), 6 (names
that are no text).
"""

import json
import re

import pytest

from forging import COUNTER, F64, GAUGE, HISTOGRAM, I64, KEY, STRING, U64, header, instant, recording, strings, table

DISK = [["name", STRING, KEY, 1], ["reads", U64, COUNTER, 2, 1, 1, "reads"], ["level", F64, GAUGE, 7]]
S = 10**9
MOST = 2**64 - 1


def of_disk(*objects, names=(b"sda",), **known):
    return recording([header(**known), table(0, "disk", *DISK), strings(*names), *objects])


def first(begin=5 * S):
    return instant(0, begin, 10, [0, 1, 0, 7], 0, 7, 0.5)


def later(by=S, reads=3):
    return instant(0, by, 10, [0, 1, 0, 2], reads)


def anchor(**changed):
    return header()[1]["anchor"] | changed


def of_cpu(**known):
    """Ticks of a clock that the header says nothing good of."""
    return recording([header(**known), table(0, "cpu", ["cpu", STRING, KEY, 1], ["user", U64, COUNTER, 4, 0, 1]), strings(b"cpu"),
                      instant(0, 0, 1, [0, 1, 0, 3], 0, 1), instant(0, S, 1, [0, 1, 0, 2], 100)])


NASTY = b"s\x1b[2Jd\n\r\"\\,<script>\xff\xc2\x9b1m\xe2\x80\xae"
READ = {
    "as it should be": of_disk(first(), later()),
    "time goes back": of_disk(first(1000 * S), later(-500 * S), later(-499 * S)),
    "time stands still": of_disk(first(), *[later(0)] * 10),
    "times at their ends": of_disk(first(MOST), instant(0, 2**63, 2**63, [0, 1, 0, 2], 3), instant(0, 1, MOST, [0, 1, 0, 2], 3)),
    "numbers at their ends": of_disk(instant(MOST, 0, 1, [0, 1, 0, 7], 0, 7, 0.5), instant(MOST, 1, 2, [0, 1, 0, 2], 3)),
    "wall clock at its end": of_disk(first(), later(), anchor=anchor(boottime=0, realtime=2**63 - 1, offset=-(2**63), max_error=MOST)),
    "wall clock at its beginning": of_disk(first(), later(), anchor=anchor(boottime=MOST, realtime=-(2**63)), utc_offset=-(2**63)),
    "a zone far away": of_disk(first(), later(), utc_offset=2**63 - 1),
    "no ticks, no CPUs": of_cpu(user_hz=0, page_size=0, ncpus=0),
    "more than there is": of_cpu(ncpus=2**32 - 1, online="0-4294967295", nodes="0-99999999"),
    "lists that are none": of_cpu(online="0-1," * 200, nodes="9-1,x"),
    "names": of_disk(first(), later(), names=(NASTY,), host="a\x1b[31mb\nc", label=b"\xff\xfe\x80", version="<script>",
                     tags={"a\nb": "c\x07", "<b>": "\"'"}),
    "a name of 64 KiB": of_disk(first(), later(), names=(b"\xff" * 65535,)),
    "keys twice": of_disk(instant(0, 0, 1, [0, 3, 0, 7, 0, 7, 0, 7], 0, 1, 0.5, 0, 2, 0.5, 0, 3, 0.5),
                          instant(0, S, 1, [0, 3, 0, 2, 0, 2, 0, 2], 5, 6, 7)),
    "no keys": of_disk(instant(0, 0, 1, [0, 2, 0, 6, 0, 6], 1, 0.5, 2, 0.5), instant(0, S, 1, [0, 2, 0, 2, 0, 2], 5, 6)),
    "numbers that are none": of_disk(first(), *[instant(0, S, 1, [0, 1, 0, 4], value)
                                                for value in (float("nan"), float("inf"), -float("inf"), 1e308, 5e-324)]),
    "scales at their ends": recording([header(), table(0, "c", ["cpu", STRING, KEY, 1], ["user", U64, COUNTER, 4, 2**32 - 1, 1],
                                                       ["free", I64, GAUGE, 3, 2**32 - 1, 2**32 - 1]), strings(b"cpu"),
                                       instant(0, 0, 1, [0, 1, 0, 7], 0, 1, -(2**63)), instant(0, S, 1, [0, 1, 0, 6], 2**63, 2**63)]),
    "64 buckets": recording([header(), table(0, "w", ["k", STRING, KEY, 1], ["h", HISTOGRAM, COUNTER, 2, 1, 1, "pages", 0, 0, 64]),
                             strings(b"a"), *[instant(0, S, 1, [0, 1, 0, b"\xff" * 8 + b"\1"], 0, *range(64)) for _ in range(2)]]),
}
NOTHING = {
    "no instant": of_disk(),
    "instants of nothing": recording([header(), *[instant(0, S, 1, [])] * 5]),
    "no header": recording([table(0, "disk", *DISK), strings(b"sda"), first()]),
    "empty segments": recording([], []),
    "a later format": recording([header(format=2), table(0, "disk", *DISK), strings(b"sda"), first()]),
    "more ticks than a second can have": of_cpu(user_hz=MOST),
    "more CPUs than there can be": of_cpu(ncpus=MOST),
    "a page of 16 EiB": of_cpu(page_size=MOST),
    "a string that never came": of_disk(instant(0, 1, 1, [0, 1, 0, 7], 5, 1, 1.0)),
    "a row at the end of 64 bits": of_disk(instant(0, 1, 1, [0, 1, MOST, 7], 0, 1, 1.0)),
    "a table before the first": of_disk(instant(0, 1, 1, [-(2**63), 1, 0, 7], 0, 1, 1.0)),
    "2^64 rows": of_disk(instant(0, 1, 1, [0, MOST, 0, 7], 0, 1, 1.0)),
    "more bits than slots": of_disk(instant(0, 1, 1, [0, 1, 0, 0xFFFF], 0, 1, 1.0, *range(13))),
    "the end of no row": of_disk(instant(0, 1, 1, [0, 1, 0, None])),
    "a column of no type": recording([header(), table(0, "w", ["k", 9, 9, 99])]),
    "no buckets": recording([header(), table(0, "w", ["k", STRING, KEY, 1], ["h", HISTOGRAM, GAUGE, 2, 1, 1, "pages"])]),
    "65 buckets": recording([header(), table(0, "w", ["k", STRING, KEY, 1], ["h", HISTOGRAM, GAUGE, 2, 1, 1, "pages", 0, 0, 65])]),
    "a key behind values": recording([header(), table(0, "w", ["v", U64, COUNTER, 2], ["k", STRING, KEY, 1])]),
    "nesting": of_disk(b"\x91" * 10000),
    "an array of 4 billion": of_disk(b"\xdd\xff\x00\x00\x00"),
    "a map whose items wrap": of_disk(b"\xdf\x40\x00\x00\x00"),
    "4 GiB": of_disk(b"\xc6\xff\xff\xff\xff"),
    "arrays in turn": of_disk(b"\xdc\xff\xff" * 24000),
    "no msgpack": of_disk(b"\xc1"),
}
VERBS = [["cat"], ["cat", "--json"], ["cat", "--csv", "--rate"], ["report"], ["report", "--json"], ["summary"], ["tree", "--json"],
         ["timeline", "--json"], ["export", "--fixture"]]
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture
def said(sonde, tmp_path):
    """said(bytes): each verb with what it returned and printed of a recording of these bytes."""

    def run(data):
        path = tmp_path / "forged.sonde"
        path.write_bytes(data)
        done = [(verb, sonde(*verb, path, timeout=100)) for verb in VERBS]
        for verb, one in done:
            assert one.returncode in (0, 1), (verb, one.stderr)
            for line in one.stderr.splitlines():
                assert line.startswith(f"sonde {verb[0]}: ") and not CONTROL.search(line), verb
            assert not CONTROL.search(one.stdout), verb
            if "--json" in verb and one.returncode == 0:
                for text in one.stdout.splitlines() if verb[0] == "cat" else [one.stdout]:
                    json.loads(text)
        return done

    return run


@pytest.mark.parametrize("what", READ)
def test_read_as_it_is(said, what):
    """Nobody complains, but for a timeline of no processes, and everybody has something to print."""
    for verb, done in said(READ[what]):
        assert done.returncode == 0 and done.stdout, verb
        assert [line for line in done.stderr.splitlines() if verb[0] != "timeline" or "no processes are in it" not in line] == [], verb


@pytest.mark.parametrize("what", NOTHING)
def test_nothing_can_be_read(said, what):
    """Each verb says so, and prints nothing: a report would be of the machine that reads."""
    for verb, done in said(NOTHING[what]):
        assert done.returncode == 1 and done.stdout == "", verb
        last = done.stderr.splitlines()[-1]
        assert last.endswith(("nothing in it can be read", "not a recording of sonde")), verb


def test_values_are_those_that_were_written(said):
    """Differences are modulo 2^64, and nothing else is made of them."""
    done = said(of_disk(first(), later(reads=2**63), later(reads=-(2**63)), later(reads=-9)))
    rows = [json.loads(line) for line in done[1][1].stdout.splitlines()]
    assert [row["values"]["reads"] for row in rows] == [7, 2**63 + 7, 7, 2**64 - 2]
    assert [row["boottime"] for row in rows] == [5 * S, 6 * S, 7 * S, 8 * S]
