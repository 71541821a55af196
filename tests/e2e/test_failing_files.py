"""Files of /proc and /sys that fail for a while, each of them: every collector says so in a line, asks again at the next tick, and nothing
that was recorded before stays away."""

import collections
import errno
import os
import subprocess

import pytest

from compiling import CC, ROOT
from live import rows, sanitized


@pytest.fixture
def failing(build, tmp_path):
    """(environment of a program whose files can fail, the file that holds the errno while they do)"""
    if sanitized(build):
        pytest.skip("a sanitizer's library has to be the first that is loaded")
    library, flag = tmp_path / "faulty.so", tmp_path / "errno"
    subprocess.run([*CC, "-O1", "-fPIC", "-shared", "-o", library, ROOT / "tests/e2e/faulty.c", "-ldl"], check=True, timeout=60)
    return {**os.environ, "LD_PRELOAD": str(library), "FAULTY": str(flag)}, flag


def tables_after(running, sequence):
    found = rows(running.stdout)
    return {row["table"] for row in found if row["sequence"] > sequence}


def newest(running):
    return max((row["sequence"] for row in rows(running.stdout)), default=0)


@pytest.mark.limit(240)
@pytest.mark.parametrize("error", [errno.EIO, errno.EBUSY, errno.EPERM], ids=errno.errorcode.get)
def test_all_of_them(agent, build, failing, tmp_path, wait_until, error):
    environment, flag = failing
    names = sorted(path.stem.removeprefix("collector-") for path in (build / "plugins").glob("collector-*.so"))
    own = {"text": "file = /proc/swaps\nformat = verbatim\n", "perf_event": "group = soft = {page-faults}\n",
           "process": f"pids = {os.getpid()}\n", "smaps": f"pids = {os.getpid()}\n", "numa_maps": f"pids = {os.getpid()}\n",
           "topology": "refresh = 500ms\n"}
    config = tmp_path / "a.ini"
    config.write_text("[agent]\ninterval = 100ms\n" + "".join(f"[{name}]\noptional = yes\n{own.get(name, '')}" for name in names)
                      + "[sink:stdout]\nformat = json\nflush = 0s\n")
    running = agent("agent", "-c", config, env=environment)
    often = {"stat", "meminfo", "vmstat", "loadavg", "cgroup", "process", "perf_event_soft", "topology", "numa_maps", "smaps"}
    wait_until(lambda: often <= tables_after(running, 0), timeout=60)
    wait_until(lambda: newest(running) > 60, timeout=60)
    before = tables_after(running, 0) - {"config", "note", "gap", "task_exit"}
    flag.write_text(str(error))
    began = newest(running)
    # Counters of perf events are no files: by them one sees that it goes on.
    wait_until(lambda: len([row for row in rows(running.stdout, "perf_event_soft") if row["sequence"] > began]) > 20, timeout=60)
    flag.unlink()
    ended = newest(running)
    wait_until(lambda: before <= tables_after(running, ended), timeout=60)
    said = collections.Counter(row["values"]["instance"] for row in rows(running.stdout, "note") if row["sequence"] > began)
    assert not [name for name, times in said.items() if times > 1]
    lines = collections.Counter(line.split("]")[0] for line in running.stderr.splitlines())
    assert not [name for name, times in lines.items() if times > 1]
    assert running.end() == 0
