"""After its warm-up the agent allocates nothing in any thread, whatever comes and goes."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from compiling import CC, ROOT

ALL = ["cpu", "schedstat", "psi", "meminfo", "vmstat", "thp", "numa", "loadavg", "disk", "net", "buddyinfo", "cgroup", "irq", "process", "numa_maps", "smaps", "topology", "self"]
WARM_UP = 400
TICKS = 1000


@pytest.fixture(scope="module")
def interposer(build, tmp_path_factory):
    """tests/bench/allocations.c: counts malloc, calloc, realloc while a file is there."""
    program = (build / "sonde").read_bytes()
    if b"__asan_init" in program or b"__tsan_init" in program:
        pytest.skip("a sanitizer has an allocator of its own")
    output = tmp_path_factory.mktemp("interposer") / "allocations.so"
    subprocess.run([*CC, "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", ROOT / "tests/bench/allocations.c",
                    "-o", output, "-ldl", "-lpthread"], check=True, timeout=60)
    return output


def test_the_interposer_counts(sonde, interposer, tmp_path):
    """Else its 0 would say nothing."""
    watched, counted = tmp_path / "watched", tmp_path / "counted"
    watched.touch()
    environment = dict(os.environ, LD_PRELOAD=str(interposer), ALLOCATIONS_FILE=str(counted), ALLOCATIONS_WHILE=str(watched))
    assert sonde("plugins", env=environment).returncode == 0
    assert int(counted.read_text().splitlines()[0]) > 10


def mappings(pid):
    """What mmap(2), brk(2) and munmap(2) would change; the stack of the first thread grows by itself."""
    return [line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if "[stack]" not in line]


def test_no_allocation_after_warm_up(agent, build, interposer, tmp_path, wait_until):
    """1,000 ticks of all collectors with processes coming and going: not one call, not one mapping more or less."""
    watched, counted = tmp_path / "watched", tmp_path / "counted"
    config = tmp_path / "a.ini"
    sections = "".join(f"[{name}]\noptional = yes\n" for name in ALL)
    sections = sections.replace("[cgroup]\n", "[cgroup]\nrescan = 100ms\n").replace("[topology]\n", "[topology]\nrefresh = 100ms\n")
    sections += "[perf_event]\noptional = yes\ngroup = soft = {task-clock,page-faults,context-switches}\n"
    config.write_text(f"[agent]\ninterval = 10ms\n{sections}"
                      f"[sink:file]\npath = {tmp_path}/a.sonde\nflush = 200ms\n"
                      "[sink:udp]\naddress = 127.0.0.1:9\n"
                      f"[sink:stdout]\nformat = json\nflush = 0s\ntables = loadavg\n")
    running = agent("agent", "-c", config, env=dict(os.environ, LD_PRELOAD=str(interposer), ALLOCATIONS_FILE=str(counted),
                                                    ALLOCATIONS_WHILE=str(watched)))

    def ticks():
        subprocess.run(["true"], check=True)
        return running.stdout_path.read_bytes().count(b"\n")

    # Room for more processes than there are: others' may come at any time.
    crowd = [subprocess.Popen(["sleep", "60"]) for _ in range(64)]
    wait_until(lambda: ticks() >= WARM_UP / 4, timeout=40)
    for process in crowd:
        process.kill()
        process.wait()
    # What every section says of ticks that it missed is among what has to be warm: a busy machine may miss some at any time.
    wait_until(lambda: ticks() >= WARM_UP / 2, timeout=40)
    running.send(signal.SIGSTOP)
    stopped = time.monotonic()
    wait_until(lambda: time.monotonic() > stopped + 0.2)
    running.send(signal.SIGCONT)
    wait_until(lambda: ticks() >= WARM_UP, timeout=40)
    watched.touch()
    before, begin = mappings(running.pid), ticks()
    wait_until(lambda: ticks() >= begin + TICKS, timeout=60)
    after = mappings(running.pid)
    watched.unlink()
    assert running.end() == 0, running.stderr
    assert counted.read_text().splitlines() == ["0"]
    assert after == before
