"""Outputs that come to an end before the pipeline does: a size that is reached, a reader that leaves."""

import resource
import signal
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


WRITERS = [
    *(("cat", "--format", name, "FILE") for name in "json msgpack csv logfmt influx table sonde".split()),
    ("report", "FILE"),
    ("plugins",),
    ("plugins", "psi"),
    ("explain", "psi"),
    ("explain", "--markdown"),
    ("check", "-c", "CONFIG"),
    ("version",),
    ("--help",),
    ("record", "--help"),
    ("record", "-q", "-i", "5ms", "-d", "1", "-o", "-"),
    ("reparse", "CAPTURE", "-o", "-"),
]


@pytest.fixture(scope="module")
def files(sonde, recording):
    """{"FILE": ...}: what stands for the words in WRITERS."""
    capture, config = recording.with_name("capture.sonde"), recording.with_name("a.ini")
    sonde("record", "-q", "--capture", "-i", "1ms", "--max-frames", "20", "-o", capture, check=True)
    config.write_text("[loadavg]\n[sink:stdout]\n")
    return {"FILE": recording, "CAPTURE": capture, "CONFIG": config}


def command(build, files, args):
    return [build / "sonde", *(files.get(word, word) for word in args)]


@pytest.mark.parametrize("args", WRITERS, ids=" ".join)
def test_a_reader_that_leaves(build, files, args):
    """Nobody reads from the start, or no longer than a line: no failure, no word."""
    for lines in (0, 1):
        child = subprocess.Popen(command(build, files, args), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(lines):
            assert child.stdout.readline()
        child.stdout.close()
        assert child.wait(20) in (0, -signal.SIGPIPE)
        assert child.stderr.read() == b""
        child.stderr.close()


@pytest.mark.parametrize("args", WRITERS, ids=" ".join)
def test_an_output_that_is_full_or_closed(build, files, args):
    """full(4), and `>&-`: said in a line, status 1. (A recorder says it when it happens, and how it ended.)"""
    for redirection in (">/dev/full", ">&-"):
        done = subprocess.run(
            ["sh", "-c", f'exec "$0" "$@" {redirection}', *command(build, files, args)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=20,
        )
        assert done.returncode == 1
        assert "stdout" in done.stderr
        assert len(done.stderr.splitlines()) <= (3 if args[-2:] == ("-o", "-") and args[0] == "record" else 1), done.stderr


@pytest.mark.parametrize("args", [("cat", "-"), ("report", "-"), ("reparse", "-", "-o", "NEW")])
@pytest.mark.parametrize("closed", ["<&-", "<&- 2>&-"])
def test_an_input_that_is_closed(build, files, tmp_path, args, closed):
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {closed}', *command(build, {**files, "NEW": tmp_path / "new.sonde"}, args)],
        capture_output=True, text=True, timeout=20,
    )
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == (1 if closed == "<&-" else 0)
