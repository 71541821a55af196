"""The same numbers as other tools of this machine print them, of what stands still equal, else between two readings (docs/oracles.md). A tool
that is not installed is skipped."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PAGE_KIB = resource.getpagesize() // 1024


def tool(*command):
    """What it prints, line by line, as words."""
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]} here")
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60, env={**os.environ, "LC_ALL": "C"})
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


@pytest.fixture
def read(sonde, tmp_path):
    """read(section...) is one sample: {(table, key...): values}"""

    def run(*sections):
        config = tmp_path / "a.ini"
        config.write_text("[agent]\ninterval = 100ms\n" + "\n".join(sections) + "\n[sink:stdout]\nformat = json\n")
        done = sonde("agent", "-c", config, "--max-frames", 1)
        assert done.returncode == 0, done.stderr
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return {(row["table"], *row["keys"].values()): row["values"] for row in rows}

    return run


@pytest.fixture
def still():
    """A process with some memory, two threads and a nice value, stopped."""
    program = ("import os, sys, threading\nos.nice(3)\nmemory = bytearray(b'x') * (24 << 20)\n"
               "threading.Thread(target=sys.stdin.read, daemon=True).start()\nprint('there', flush=True)\nthreading.Event().wait()\n")
    with subprocess.Popen([sys.executable, "-S", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        yield process.pid
        process.kill()


def one(found, table, pid):
    ((key, values),) = [(key, values) for key, values in found.items() if key[:2] == (table, pid)]
    return values


def resident(process):
    """KiB, exact and as /proc/PID/stat has it: since Linux 6.16 that lags behind by some pages of each CPU."""
    return {process["vm_rss"], process["rss"] * PAGE_KIB}


@pytest.mark.parametrize("source", ["proc", "bpf"])
def test_ps(read, still, source):
    columns = "ppid pgid sess nlwp ni vsz rss min_flt maj_flt state psr uid cputimes".split()
    process = one(read(f"[process]\npids = {still}\nsource = {source}"), "process", still)
    ((*values,),) = tool("ps", "-p", still, "-o", ",".join(f"{column}=" for column in columns))
    said = dict(zip(columns, values))
    names = {"ppid": "ppid", "pgid": "pgrp", "sess": "session", "nlwp": "num_threads", "ni": "nice", "min_flt": "minflt",
             "maj_flt": "majflt", "psr": "processor", "uid": "uid"}
    assert {column: int(said[column]) for column in names} == {column: process[name] for column, name in names.items()}
    assert said["state"] == process["state"] == "T" and process["nice"] == 3 and process["num_threads"] == 2
    assert int(said["vsz"]) * 1024 == process["vsize"] and int(said["rss"]) in resident(process)
    assert int(said["cputimes"]) == (process["utime"] + process["stime"]) // os.sysconf("SC_CLK_TCK")


def test_pidstat(read, still):
    process = one(read(f"[process]\npids = {still}"), "process", still)
    *_, head, values = tool("pidstat", "-h", "-r", "-v", "-p", still)
    said = dict(zip(head[1:], values))
    assert int(said["PID"]) == still and int(said["threads"]) == process["num_threads"]
    assert int(said["VSZ"]) * 1024 == process["vsize"] and int(said["RSS"]) in resident(process)


def test_numastat(read):
    """Counters between two readings; the columns of numastat are the nodes that are there."""
    if not Path("/sys/devices/system/node").exists():
        pytest.skip("no nodes: CONFIG_NUMA is off")
    before = read("[numa]")
    head, *lines = tool("numastat")
    after = read("[numa]")
    nodes = [int(name.removeprefix("node")) for name in head]
    assert nodes == [key[1] for key in before if key[0] == "numa"]
    assert len(lines) == 6
    for name, *values in lines:
        for node, value in zip(nodes, map(int, values)):
            assert before["numa", node][name] <= value <= after["numa", node][name]


def test_numastat_of_memory(read):
    """Nodes, and their sum in the end; a machine may be given memory meanwhile."""
    def totals():
        (line,) = [line[1:] for line in tool("numastat", "-m") if line[:1] == ["MemTotal"]]
        return list(map(float, line))

    before = totals()
    found = [values["mem_total"] / 1024 for key, values in read("[numa]").items() if key[0] == "numa_meminfo"]
    after = totals()
    assert len(before) == len(after) == len(found) + 1
    for one, other, value in zip(before, after, [*found, sum(found)]):
        assert min(one, other) - 0.02 < value < max(one, other) + 0.02


def test_numastat_of_a_process(read, still):
    """Bytes by node of one that stands still, to the digits that are printed."""
    if not Path(f"/proc/{still}/numa_maps").exists():
        pytest.skip("no numa_maps: CONFIG_NUMA is off")
    found = read(f"[numa_maps]\npids = {still}\nfull = yes")
    by_node = {key[3]: values["bytes"] for key, values in found.items() if key[:2] == ("numa_maps", still)}
    lines = tool("numastat", "-p", still)
    nodes = [int(word) for line in lines for word in line if line[:1] == ["Node"] and word.isdigit()]
    (total,) = [line[1:-1] for line in lines if line[:1] == ["Total"]]
    assert len(nodes) == len(total)
    for node, megabytes in zip(nodes, map(float, total)):
        assert by_node.get(node, 0) / (1 << 20) == pytest.approx(megabytes, abs=0.02)
    assert sum(by_node.values()) > 24 << 20
