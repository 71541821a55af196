"""smaps: processes of the test's own that share memory, beside what the kernel says of them; capture and reparse."""

import mmap
import os
import re
import signal
from pathlib import Path

import pytest
from live import rows

MIB = 1 << 20
SHARED = 100 * MIB
pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="a kernel without CONFIG_PROC_PAGE_MONITOR: no smaps")


@pytest.fixture
def service():
    """Pids of four processes that share 100 MiB and have 10 MiB each of their own."""
    memory = mmap.mmap(-1, SHARED)  # shared, and the children's too
    memory.write(b"x" * SHARED)
    ready, tell = os.pipe()
    pids = []
    for _ in range(4):
        pid = os.fork()
        if not pid:
            memory.seek(0)
            memory.read()
            own = b"y" * (10 * MIB)
            os.write(tell, b".")
            signal.pause()
            os._exit(len(own) & 0)
        pids.append(pid)
        os.read(ready, 1)
    memory.close()
    yield pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(ready), os.close(tell)


def config_of(pids, sink, more=""):
    return (f"[agent]\ninterval = 50ms\n{more}\n[smaps]\npids = {', '.join(map(str, pids))}\n"
            f"budget = 1s\n[sink:{sink}\n")


def kernel_says(pid):
    """{key: KiB}, each mapping of smaps added up."""
    said = {}
    for key, value in re.findall(r"^(\w+): +(\d+) kB$", Path(f"/proc/{pid}/smaps").read_text(), re.M):
        said[key] = said.get(key, 0) + int(value)
    return said


def test_shared_pages_count_once(sonde, tmp_path, service):
    config = tmp_path / "a.ini"
    config.write_text(config_of(service, "stdout]\nformat = json"))
    done = sonde("agent", "-c", config, "--max-frames", 2)
    assert done.returncode == 0, done.stderr
    found = {row["keys"]["pid"]: row["values"] for row in rows(done.stdout, "smaps")}
    assert set(found) == set(service)
    for pid, values in found.items():
        said = kernel_says(pid)
        for name, key in (("rss", "Rss"), ("pss", "Pss"), ("private_dirty", "Private_Dirty"), ("anonymous", "Anonymous"),
                          ("swap", "Swap"), ("anon_huge_pages", "AnonHugePages")):
            assert abs(values[name] - said[key]) <= 0.02 * said[key] + 64, (pid, name)
    resident, shares = (sum(values[name] for values in found.values()) * 1024 for name in ("rss", "pss"))
    assert resident >= 4 * SHARED
    # Once instead of four times; what is left of each, a fork of this process, is in part shared as well.
    assert SHARED + 40 * MIB <= shares <= 1.01 * (resident - 3 * SHARED)


def test_captured_and_reparsed(sonde, tmp_path, service):
    old, new, config = tmp_path / "old.sonde", tmp_path / "new.sonde", tmp_path / "a.ini"
    config.write_text(config_of(service, f"file]\npath = {old}", "capture = raw"))
    assert sonde("agent", "-c", config, "--max-frames", 3).returncode == 0
    done = sonde("reparse", old, "-o", new)
    assert done.returncode == 0, done.stderr
    before = sonde("cat", "--json", old).stdout
    assert rows(before, "smaps")
    assert sonde("cat", "--json", new).stdout == before
