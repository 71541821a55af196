"""Outputs that come to an end before the pipeline does: a size that is reached, a reader that leaves."""

import resource
import subprocess

import pytest

from live import rows

SECTIONS = "[vmstat]\n[meminfo]\n"


def limited(size):
    """For a child: files of its no larger than this (setrlimit(2), RLIMIT_FSIZE; beyond, SIGXFSZ)."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_file_that_may_not_grow(agent, sonde, tmp_path, wait_until):
    """Said once for each file, which stays readable; the other sink has everything."""
    folder = tmp_path / "kept"
    folder.mkdir()
    config = tmp_path / "a.ini"
    config.write_text(f"[agent]\ninterval = 5ms\n{SECTIONS}[sink:file]\npath = {folder}/a.sonde\nflush = 20ms\n"
                      "[sink:stdout]\nformat = json\ntables = meminfo\nflush = 0s\n")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=open(tmp_path / "out", "wb")) as reader:
        running = agent("agent", "-c", config, stdout=reader.stdin, preexec_fn=limited(16 << 10))
        reader.stdin.close()
        wait_until(lambda: len(list(folder.iterdir())) >= 3, timeout=60)
        assert running.end() == 0
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert len(files) - 1 <= running.stderr.count("File too large") <= len(files)
    everything = rows((tmp_path / "out").read_text(), "meminfo")
    numbers = [row["sequence"] for row in everything]
    assert numbers == list(range(1, numbers[-1] + 1))
    values = {row["sequence"]: row["values"] for row in everything}
    kept = []
    for path in files:
        assert 0 < path.stat().st_size <= 16 << 10
        done = sonde("cat", "--json", path)
        assert done.returncode == 0, done.stderr
        kept += rows(done.stdout, "meminfo")
    assert len(kept) > len(everything) / 2
    assert all(row["values"] == values[row["sequence"]] for row in kept)


@pytest.fixture(scope="module")
def recording(sonde, tmp_path_factory):
    """More text than a pipe holds, by far."""
    path = tmp_path_factory.mktemp("ends") / "a.sonde"
    assert sonde("record", "-q", "-i", "1ms", "--max-frames", "300", "-o", path).returncode == 0
    return path


@pytest.mark.parametrize("args", [("cat", "--json"), ("cat", "--csv"), ("report",)])
def test_a_reader_that_leaves(build, recording, args):
    """Nobody reads from the start, or no longer than a line: status 0, no word."""
    for lines in (0, 1):
        child = subprocess.Popen([build / "sonde", *args, recording], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(lines):
            assert child.stdout.readline()
        child.stdout.close()
        assert child.wait(20) == 0
        assert child.stderr.read() == b""
        child.stderr.close()
