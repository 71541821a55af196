"""Where a process's time went: a reader of a disk, beside what /proc says of it in the end."""

import json
import os
import sys
from pathlib import Path

import pytest

DELAYS = Path("/proc/sys/kernel/task_delayacct")
# A second in which a slow disk answers nothing must not break what holds.
LOW = "[analyzer:delay]\nblock_io = 0.0001\nleast = 0.0001\nhold = 200ms\n[analyzer:memory]\n"
# Reads past the page cache, a page at a time, for ever; says so once it does nothing else.
READER = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
page, size = mmap.mmap(-1, 4096), os.fstat(file).st_size
open(sys.argv[2], "w").close()
at = 0
while True:
    os.preadv(file, [page], at * 7 % (size // 4096) * 4096)
    at += 1
"""


@pytest.fixture
def delays():
    """Delay accounting is on; as it was before in the end."""
    try:
        before = DELAYS.read_text()
        DELAYS.write_text("1")
    except OSError as error:
        pytest.skip(f"kernel.task_delayacct: {error.strerror}")
    yield
    DELAYS.write_text(before)


def cold_file(folder):
    path = folder / "file"
    path.write_bytes(os.urandom(16 << 20))
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        pytest.skip(f"{folder}: no reads past the page cache here")
    return path


def times(pid):
    """What the kernel counted for a process: ns that it waited for block I/O, and that it ran or waited for a CPU."""
    ticks = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[39])
    run, wait = map(int, Path(f"/proc/{pid}/schedstat").read_text().split()[:2])
    return ticks * 1e9 / os.sysconf("SC_CLK_TCK"), run + wait


@pytest.mark.parametrize("sections", ["[taskstats]\npids = {pid}\nexits = no\n[process]\npids = {pid}\n", "[process]\npids = {pid}\n"],
                         ids=["taskstats", "process"])
def test_a_reader(sonde, agent, background, wait_until, delays, tmp_path, sections):
    file, begun, recording = cold_file(tmp_path), tmp_path / "begun", tmp_path / "a.sonde"
    reader = background(sys.executable, "-c", READER, file, begun)
    wait_until(begun.exists)
    config = tmp_path / "a.ini"
    config.write_text("[agent]\ninterval = 200ms\n" + sections.format(pid=reader.pid) + f"[sink:file]\npath = {recording}\nflush = 100ms\n")
    before = times(reader.pid)
    running = agent("agent", "-c", config)

    def seen():
        """Rows of more seconds than a finding has to hold for"""
        assert running.running(), running.stderr
        rows = [json.loads(line) for line in sonde("cat", "--json", "-t", "process", recording).stdout.splitlines()] if recording.exists() else []
        return rows and rows[-1]["time"] - rows[0]["time"] > 4e9

    wait_until(seen, timeout=60, step=0.5)
    assert running.end() == 0
    if "CAP_NET_ADMIN" in running.stderr:
        pytest.skip("taskstats needs CAP_NET_ADMIN")
    waited, active = (after - first for after, first in zip(times(reader.pid), before))

    low = tmp_path / "low.ini"
    low.write_text(LOW)
    report = json.loads(sonde("report", "-c", low, "--json", recording, check=True).stdout)
    (found,) = [f for f in report["findings"] if f["id"] == "delay.block_io"]
    assert f"process {reader.pid} (" in found["about"] and found["severity"] == "info"
    share = {item["name"]: item["value"] for item in found["evidence"]}["delay.block_io_share"]
    # Of the time that was recorded, in which it did nothing else.
    assert share == pytest.approx(waited / (waited + active), abs=0.25)


def test_switched_off(sonde, tmp_path):
    """The default: what would count it is said."""
    if DELAYS.exists() and DELAYS.read_text().strip() != "0":
        pytest.skip("kernel.task_delayacct is on")
    recording = tmp_path / "a.sonde"
    sonde("record", "-q", "-i", "100ms", "--max-frames", "30", "-p", os.getpid(), "-o", recording, check=True)
    judgements = json.loads(sonde("report", "--json", recording, check=True).stdout)["catalogue"]["judgements"]
    (io,) = [j for j in judgements if j["id"] == "delay.block_io"]
    assert io["verdict"] == "not_judged" and "kernel.task_delayacct=1" in io["reason"]
