"""Recordings as they are found after crashes, under cp and cat: what was written is read, what was not is said, and nothing is
made up.

Cases of the corpus: 143 to 145 and 190 (tails that are torn, recordings behind one another).
"""

import json
import os
import random
import re
import signal
import subprocess
import sys

import pytest

from captured import configuration, make_tree


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return make_tree(tmp_path_factory.mktemp("damage") / "tree")


def write(build, tree, path, *keys, seconds="0.5", kill="TERM"):
    """A recording of the tree; kill="KILL": without an end."""
    config = path.with_suffix(".ini")
    config.write_text(configuration(tree, f"[sink:file]\npath = {path}\nflush = 50ms\n", *keys))
    subprocess.run(["timeout", "-s", kill, seconds, build / "sonde", "agent", "-c", config], timeout=30)
    return path.read_bytes()


@pytest.fixture(scope="module")
def whole(build, tree, tmp_path_factory):
    return write(build, tree, tmp_path_factory.mktemp("damage") / "whole.sonde")


@pytest.fixture(scope="module")
def killed(build, tree, tmp_path_factory):
    return write(build, tree, tmp_path_factory.mktemp("damage") / "killed.sonde", seconds="1", kill="KILL")


@pytest.fixture
def lines(sonde):
    """lines(data or path): what cat prints of it, and its word on stderr."""

    def read(source):
        given = {"input": source, "text": False} if isinstance(source, bytes) else {}
        done = sonde("cat", "--json", "-" if given else source, **given)
        assert done.returncode == 0, done.stderr
        text, said = (each if isinstance(each, str) else each.decode() for each in (done.stdout, done.stderr))
        return sorted(text.splitlines()), said

    return read


def test_a_recording_twice(lines, whole):
    """cat a a: the same marks again, of the same stream."""
    once, said = lines(whole)
    twice, again = lines(whole + whole)
    assert twice == sorted(once + once) and said == again == ""


def test_a_killed_one_before_another(lines, killed, whole):
    """Case 143, by cat: kill -9 leaves whole blocks, and what was put behind them is found."""
    both, said = lines(killed + whole)
    assert both == sorted(lines(killed)[0] + lines(whole)[0]) and said == ""


def test_a_torn_one_before_another(lines, sonde, killed, whole, tmp_path):
    """Behind half a block a name can't be told from a recording: it is said where one seems to begin, and how to read it."""
    torn = killed[:-9]
    path = tmp_path / "both.sonde"
    path.write_bytes(torn + whole)
    got, said = lines(path)
    assert got == lines(torn)[0]
    advice = re.search(r"tail -c \+(\d+) FILE \| sonde cat -$", said, re.M)
    assert int(advice.group(1)) == len(torn) + 1
    assert lines(path.read_bytes()[int(advice.group(1)) - 1 :])[0] == lines(whole)[0]


def test_files_of_a_folder_stand_alone(lines, sonde, killed, whole, tmp_path):
    """A torn one, an empty one, one of zeros, a text and a FIFO among them: each is told of, and the rest is read."""
    for name, data in (("a", killed[:-9]), ("b", b""), ("c", bytes(4096)), ("d", whole), ("e", b"a text\n" * 20), ("f", whole)):
        (tmp_path / f"{name}.sonde").write_bytes(data)
    os.mkfifo(tmp_path / "g.sonde")
    got, said = lines(tmp_path)
    assert got == sorted(lines(killed[:-9])[0] + 2 * lines(whole)[0])
    assert [line.split("/")[-1].split(":")[0] for line in said.splitlines()] == ["a.sonde", "c.sonde", "e.sonde"]
    done = sonde("report", tmp_path)
    assert done.returncode == 0 and "Data quality" in done.stdout
    late = sonde("cat", "--json", "--since", "100ms", tmp_path)
    assert late.returncode == 0
    assert 0 < len(late.stdout.splitlines()) < len(got)


@pytest.mark.parametrize("content", [b"", b"a text\n" * 20, bytes(4096)])
def test_a_folder_of_nothing(sonde, tmp_path, content):
    (tmp_path / "a.sonde").write_bytes(content)
    done = sonde("cat", tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert str(tmp_path) in done.stderr.splitlines()[-1]


FORGER = """
import os, subprocess, sys, time
path = sys.argv[1]
while not os.path.exists(path) or os.path.getsize(path) < 1000:
    time.sleep(0.02)
time.sleep(0.3)
data = bytearray(open(path, "rb").read())
# A later number than the real segment's, with a checksum that is right (docs/format.md).
def fnv(data):
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 % 2**32
    return value
if sys.argv[2] == "later":
    data[24:32] = (7777).to_bytes(8, "little")
    data[36:40] = fnv(data[8:36]).to_bytes(4, "little")
# What the kernel keeps is the arguments with a zero behind each: zeros are the ends of arguments.
args = bytes(data).split(b"\\0")
subprocess.run([b"/bin/sh", b"-c", b"sleep 1", *args])
"""


@pytest.mark.parametrize("number", ["same", "later"])
def test_a_segment_in_a_command_line(sonde, lines, build, tree, agent, tmp_path, wait_until, number):
    """A process reads the recording that it is in, and has its bytes as its arguments, which a capture keeps as they are:
    wherever the file is cut or damaged, what is printed was recorded. (Every byte of such a file: tests/unit/reader_test.c.)"""
    path, config = tmp_path / "a.sonde", tmp_path / "a.ini"
    config.write_text(f"[agent]\ninterval = 50ms\ncapture = raw\n[process]\nsubtree = {os.getpid()}\ncmdline = full\nfiles = stat\n"
                      f"[sink:file]\npath = {path}\nflush = 50ms\n")
    running = agent("agent", "-c", config)
    subprocess.run([sys.executable, "-S", "-c", FORGER, path, number], check=True, timeout=30)
    assert running.end() == 0
    data = path.read_bytes()
    true, said = lines(path)
    assert said == ""
    raw = [row["values"].get("bytes", "") for row in map(json.loads, true) if row["table"] == "raw"]
    assert any(text.startswith("/bin/sh\0-c\0sleep 1\0\u2026#") for text in raw), "it was recorded up to the mark"
    numbers = [data[at + 24] for at in range(len(data)) if data.startswith(data[:24], at)]
    assert numbers == list(range(len(numbers))), "and no mark is there but those of its segments"
    known = set(true)
    places = random.Random(1).sample(range(64, len(data)), 150)
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 0xFF
        for bad in (data[:place], bytes(damaged)):
            done = sonde("cat", "--json", "-", input=bad, text=False)
            assert done.returncode in (0, 1)
            rows = done.stdout.decode().splitlines()
            assert {row for row in rows if '"table":"gap"' not in row} <= known


def test_every_bit_of_a_small_recording(sonde, root, tmp_path):
    """The example of docs/format.md, each of its bits flipped in a file of its own, and all of them read as one folder: no
    value is printed that is not in it."""
    block = re.findall(r"```hex\n(.*?)```", (root / "docs/format.md").read_text(), re.DOTALL)[0]
    example = bytes.fromhex(block)
    whole = tmp_path / "example.sonde"
    whole.write_bytes(example)
    true = set(sonde("cat", "--json", whole, check=True).stdout.splitlines())
    assert len(true) == 5
    folder = tmp_path / "flipped"
    folder.mkdir()
    for bit in range(len(example) * 8):
        flipped = bytearray(example)
        flipped[bit // 8] ^= 1 << bit % 8
        (folder / f"{bit:05}.sonde").write_bytes(flipped)
    done = sonde("cat", "--json", folder)
    assert done.returncode == 0
    rows = [row for row in done.stdout.splitlines() if '"table":"gap"' not in row]
    assert len(rows) > len(true) and set(rows) <= true
