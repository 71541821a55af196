"""numa_maps: a process of the test's own beside what the kernel says of it elsewhere; capture and reparse; other users."""

import ctypes
import mmap
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from live import rows

MIB = 1 << 20
pytestmark = pytest.mark.skipif(not Path("/proc/self/numa_maps").exists(), reason="a kernel without CONFIG_NUMA: no numa_maps")


class Memory:
    """200 MiB of this process, touched; bound to node 0 where that is permitted."""

    def __init__(self, size=200 * MIB):
        self.map = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        libc = ctypes.CDLL(None, use_errno=True)
        mask = ctypes.c_ulong(1)
        MPOL_BIND, mbind = 2, {"x86_64": 237, "aarch64": 235}.get(os.uname().machine, -1)
        self.bound = libc.syscall(mbind, ctypes.c_void_p(address), ctypes.c_ulong(size), MPOL_BIND, ctypes.byref(mask),
                                  ctypes.c_ulong(64), 0) == 0
        for page in range(0, size, mmap.PAGESIZE):
            self.map[page] = 1


@pytest.fixture(scope="module")
def memory():
    return Memory()


def run(sonde, tmp_path, options, frames=3, agent=""):
    config = tmp_path / "a.ini"
    config.write_text(f"[agent]\ninterval = 50ms\n{agent}\n[numa_maps]\n{options}\n[sink:stdout]\nformat = json\n")
    done = sonde("agent", "-c", config, "--max-frames", frames)
    assert done.returncode == 0, done.stderr
    return rows(done.stdout)


def last(found, table):
    sequence = max(row["sequence"] for row in found if row["instance"] == "numa_maps")
    return [row for row in found if row["table"] == table and row["sequence"] == sequence]


def status(key):
    return int(re.search(rf"{key}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


def kernel_says():
    """Bytes by node, of /proc/self/numa_maps."""
    by_node = {}
    for line in open("/proc/self/numa_maps"):
        size = re.search(r"kernelpagesize_kB=(\d+)", line)
        for node, pages in re.findall(r" N(\d+)=(\d+)", line):
            by_node[int(node)] = by_node.get(int(node), 0) + int(pages) * int(size[1]) * 1024
    return by_node


def mappings_of_ours():
    """Bytes on node 0 of anonymous mappings by their address."""
    found = {}
    for line in open("/proc/self/numa_maps"):
        pages, size = re.search(r" N0=(\d+)", line), re.search(r"kernelpagesize_kB=(\d+)", line)
        if pages and not re.search(r" (file=|heap|stack)", line):
            found[line.split()[0]] = int(pages[1]) * int(size[1]) * 1024
    return found


def test_a_process_of_ours(sonde, tmp_path, memory):
    found = run(sonde, tmp_path, f"pids = {os.getpid()}")
    nodes = {row["keys"]["node"]: row["values"] for row in last(found, "numa_maps")}
    said = kernel_says()
    assert set(nodes) == set(said)
    for node, values in nodes.items():
        assert abs(values["bytes"] - said[node]) <= 8 * MIB
        assert values["bytes"] == sum(values[name] for name in ("anon", "heap", "stack", "file", "hugetlb"))
    assert nodes[0]["anon"] >= 200 * MIB
    (process,) = last(found, "numa_maps_process")
    assert process["values"]["method"] == "read"
    assert abs(process["values"]["anon"] - status("RssAnon")) <= 8 * MIB
    (address, largest), *_ = sorted(mappings_of_ours().items(), key=lambda one: -one[1])
    told = {row["keys"]["mapping"]: row["values"]["bytes"] for row in last(found, "numa_maps_mapping") if row["keys"]["node"] == 0}
    assert 200 * MIB <= largest and abs(told[address] - largest) <= 8 * MIB
    if memory.bound:
        policies = {row["keys"]["policy"]: row["values"] for row in last(found, "numa_maps_policy")}
        assert policies["bind:0"]["bytes"] == 200 * MIB and policies["bind:0"]["mappings"] == 1


def test_above_the_ceiling_it_is_sampled(sonde, tmp_path, memory):
    found = run(sonde, tmp_path, f"pids = {os.getpid()}\nceiling = 16MiB", frames=4)
    (process,) = last(found, "numa_maps_process")
    values = process["values"]
    assert values["method"] == "sampled" and "anon" not in values
    assert values["sampled"] >= 8192  # of 16,384 over the address space as it was at the sample before
    assert abs(values["bytes"] - status("VmRSS")) <= 0.15 * status("VmRSS")
    found = run(sonde, tmp_path, f"pids = {os.getpid()}\nceiling = 16MiB\nfull = yes")
    assert last(found, "numa_maps_process")[0]["values"]["method"] == "read"


def test_captured_and_reparsed(sonde, tmp_path, memory):
    """Reads, system calls and the clock that ends a budget: all of it is the same again."""
    for ceiling in ("1GiB", "16MiB"):
        old, new, config = tmp_path / "old.sonde", tmp_path / "new.sonde", tmp_path / "a.ini"
        config.write_text(f"[agent]\ninterval = 50ms\ncapture = raw\n[numa_maps]\npids = {os.getpid()}, {os.getppid()}\n"
                          f"ceiling = {ceiling}\nbudget = 1ms\n[sink:file]\npath = {old}\n")
        assert sonde("agent", "-c", config, "--max-frames", 5).returncode == 0
        done = sonde("reparse", old, "-o", new)
        assert done.returncode == 0, done.stderr
        before, after = sonde("cat", "--json", old).stdout, sonde("cat", "--json", new).stdout
        assert rows(before, "numa_maps")
        assert after == before
        old.unlink(), new.unlink()


def test_a_subtree(sonde, tmp_path):
    """A child of the process named is of it; others are not."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        found = run(sonde, tmp_path, f"subtree = {child.pid}")
        assert {row["keys"]["pid"] for row in last(found, "numa_maps_process")} == {child.pid}
        found = run(sonde, tmp_path, f"subtree = {os.getpid()}")
        assert {child.pid, os.getpid()} <= {row["keys"]["pid"] for row in last(found, "numa_maps_process")}
    finally:
        child.kill()
        child.wait()


def test_a_command_with_the_profile(sonde, tmp_path):
    """record --profile numa -- COMMAND: its memory, not that of the largest processes of the machine."""
    recording = tmp_path / "a.sonde"
    command = [sys.executable, "-c", "import os, time; x = b'x' * (64 << 20); print(os.getpid(), flush=True); time.sleep(2.5)"]
    done = sonde("record", "--profile", "numa", "-q", "-o", recording, "--", *command)
    assert done.returncode == 0, done.stderr
    found = rows(sonde("cat", "--json", recording).stdout, "numa_maps")
    assert {row["keys"]["pid"] for row in found} == {int(done.stdout)}
    assert max(row["values"]["bytes"] for row in found) >= 64 * MIB


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_other_users_processes(build):
    """Without CAP_SYS_PTRACE: a note, no values, no error."""
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as config:
        config.write("[agent]\ninterval = 50ms\n[numa_maps]\n[sink:stdout]\nformat = json\n")
        config.flush()
        os.chmod(config.name, 0o644)
        done = subprocess.run([build / "sonde", "agent", "-c", config.name, "--max-frames", "2"], user=65534, group=65534,
                              extra_groups=[], capture_output=True, text=True, timeout=60)
    found = rows(done.stdout)
    assert done.returncode == 0, done.stderr
    assert any("CAP_SYS_PTRACE" in row["values"]["text"] for row in found if row["table"] == "note")
    assert any(row["values"]["method"] == "none" for row in last(found, "numa_maps_process"))
