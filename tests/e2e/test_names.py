"""Processes that call themselves what they like: their names and arguments through every output, read by other parsers.

Cases of the corpus: 3, 5, 6 and 167, by real processes.
"""

import json
import re
import subprocess
import sys

import pytest

from test_stdout import shown, tables_of_csv, unescaped

NAMES = [
    b"\x1b[31mred\x07",
    b"line\nfeed\r\ttab",
    b'quote"\\,a=b c',
    "\u202egpj.exe\u2066".encode(),
    b"\xff\xfecut\xe5\x90",
    b"bad) S 1 2 3 4",
    b"=1+1'`$(id)|<&>",
    "\u0085\u200b\u2028x".encode(),
]

# Its name is its first argument (prctl(2), PR_SET_NAME); it touches new memory all the time.
PROGRAM = """
import ctypes, mmap, os, sys, time
ctypes.CDLL(None).prctl(15, os.fsencode(sys.argv[1]), 0, 0, 0)
print("named", flush=True)
while True:
    with mmap.mmap(-1, 1 << 16) as area:
        area.write(bytes(1 << 16))
    time.sleep(0.005)
"""


@pytest.fixture(scope="module")
def processes():
    """{pid: (name, arguments)} of processes that run."""
    children = {}
    for name in NAMES:
        args = [sys.executable.encode(), b"-S", b"-c", PROGRAM.encode(), name[:15], name, b"", name + name]
        child = subprocess.Popen(args, stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"named\n"
        children[child] = (name[:15], args)
    yield {child.pid: what for child, what in children.items()}
    for child in children:
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.fixture(scope="module")
def recording(sonde, processes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    config = folder / "a.ini"
    config.write_text(f"[agent]\ninterval = 100ms\n[process]\npids = {','.join(map(str, processes))}\ncmdline = full\n"
                      f"[sink:file]\npath = {folder}/a.sonde\n")
    done = sonde("agent", "-c", config, "--max-frames", "20")
    assert done.returncode == 0, done.stderr
    return folder / "a.sonde"


@pytest.fixture
def cat(sonde, recording):
    def run(format):
        done = sonde("cat", "--format", format, recording, text=False)
        assert done.returncode == 0 and done.stderr == b""
        return done.stdout

    return run


def expected(processes):
    """{pid: (comm, cmdline)} as JSON shows them."""
    return {pid: (shown(name), shown(b" ".join(args))) for pid, (name, args) in processes.items()}


def test_in_json(cat, processes):
    rows = [json.loads(line) for line in cat("json").decode().splitlines()]
    seen = {row["keys"]["pid"]: row["values"] for row in rows if row["table"] == "process" and "comm" in row["values"]}
    assert {pid: values["comm"] for pid, values in seen.items()} == {pid: one for pid, (one, _) in expected(processes).items()}
    for pid, (_, cmdline) in expected(processes).items():
        kept = seen[pid]["cmdline"].removesuffix("\u2026")
        assert len(kept) > 100 and cmdline.startswith(kept.removesuffix("..."))


def test_in_csv(cat, processes):
    text = cat("csv")
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", text)
    rows = [dict(cells) for table, cells in tables_of_csv(text) if table == "process"]
    assert {int(row["pid"]): unescaped(row["comm"]) for row in rows} == {
        pid: one for pid, (one, _) in expected(processes).items()
    }


def test_in_logfmt(cat, processes):
    lines = [line for line in cat("logfmt").decode().split("\n") if " table=process " in line]
    comms = {}
    for line in lines:
        pairs = dict(re.findall(r'([a-z0-9_.]+)=("(?:\\.|[^"\\])*"|[^" ]*)(?: |$)', line))
        comms[int(pairs["pid"])] = json.loads(pairs["comm"]) if pairs["comm"].startswith('"') else pairs["comm"]
    assert comms == {pid: one for pid, (one, _) in expected(processes).items()}


def test_in_influx_lines(cat, processes):
    """A line a row: whatever is in a name, neither the lines nor the fields become more."""
    lines = [line for line in cat("influx").decode().split("\n") if line.startswith("process,")]
    assert {int(re.search(r"[, ]pid=(\d+)", line).group(1)) for line in lines} == set(processes)
    for line in lines:
        assert re.fullmatch(r'(?:\\.|[^ \\])+ (?:[a-z0-9_]+=(?:"(?:\\.|[^"\\])*"|[^" ,]+),?)+ \d+', line)


HIDDEN = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]"


def test_in_a_table(cat, processes):
    text = cat("table").decode()
    assert not re.search(HIDDEN, text)
    for seen in (r"\x1b[31mred\x07", r"line\nfeed\r\ttab", r"\u202egpj.exe", r"\xff\xfecut", "bad) S 1 2 3 4"):
        assert seen in text


@pytest.mark.parametrize("options", [(), ("--md",), ("--json",)])
def test_in_a_report(sonde, recording, processes, tmp_path, options):
    """Each is a finding here: its name stands in the title and in what it is about."""
    config = tmp_path / "a.ini"
    config.write_text("[analyzer:memory]\nminor_faults = 1\nhold = 0s\nlimit = 20\n")
    done = sonde("report", "-c", config, *options, recording, text=False)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    text = done.stdout.decode()
    assert not re.search(HIDDEN, text)
    if options == ("--json",):
        findings = [one for one in json.loads(text)["findings"] if one["id"] == "mem.minor_fault_storm"]
        assert {int(re.search(r"process (\d+)", one["about"]).group(1)) for one in findings} == set(processes)
        return
    for pid in processes:
        assert re.search(rf"process {pid}\b", text)
    if not options:
        for seen in (r"\x1b[31mred\x07", r"line\nfeed", r"\u202egpj.exe", r"\xff\xfecut"):
            assert seen in text
