"""The collector cgroup on this machine's own cgroups: made, throttled, removed and made again, seen from outside and from within
namespaces; beside what their files and /proc say."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from live import rows

MOUNTS = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
UNIFIED = next((Path(m[1]) for m in MOUNTS if m[2] == "cgroup2"), None)


def mount_of(controller):
    """Where version 1 has it, or version 2 does; None: nowhere."""
    for m in MOUNTS:
        if m[2] == "cgroup" and controller in m[3].split(","):
            return Path(m[1])
    controllers = UNIFIED / "cgroup.subtree_control" if UNIFIED else None
    return UNIFIED if controllers and controller in controllers.read_text().split() else None


def run_in(background, cgroup):
    """A process in it that uses CPU time, ended with the test."""
    return background("sh", "-c", f"echo $$ >'{cgroup}/cgroup.procs' && while :; do :; done")


def config(tmp_path, keys="", agent="", interval="100ms"):
    path = tmp_path / "cgroup.ini"
    path.write_text(f"[agent]\ninterval = {interval}\n{agent}\n[cgroup]\n{keys}\n[sink:stdout]\nformat = json\nflush = 0s\n")
    return path


def mine(text, table, name):
    """Rows of this test's cgroup of that name."""
    return [row for row in rows(text, table) if row["keys"]["path"].endswith(f"sonde-test-{os.getpid()}/{name}")]


def values_of(path):
    return dict(line.split() for line in path.read_text().splitlines())


def test_cpu_and_pressure(sonde, cgroup, background, wait_until, tmp_path):
    """Version 2, or the unified half of both: CPU time and pressure lie between what the files said before and after."""
    path = cgroup(UNIFIED, "busy")
    run_in(background, path)
    run_in(background, path)
    wait_until(lambda: int(values_of(path / "cpu.stat")["usage_usec"]) > 200000)
    total = lambda: int((path / "cpu.pressure").read_text().split("\n")[0].rpartition("=")[2]) if (path / "cpu.pressure").exists() else None
    before, stalled = values_of(path / "cpu.stat"), total()
    done = sonde("agent", "-c", config(tmp_path, f"cgroup = */sonde-test-{os.getpid()}/busy"), "--max-frames", 1)
    after, stalled_after = values_of(path / "cpu.stat"), total()
    (row,) = mine(done.stdout, "cgroup", "busy")
    for column in ("usage", "user", "system"):
        assert int(before[f"{column}_usec"]) * 1000 <= row["values"][column] <= int(after[f"{column}_usec"]) * 1000
    if stalled is not None:
        (cpu,) = [r for r in mine(done.stdout, "cgroup_pressure", "busy") if r["keys"]["resource"] == "cpu"]
        assert stalled <= cpu["values"]["some_total"] <= stalled_after


def test_throttling_and_limits(sonde, cgroup, background, wait_until, tmp_path):
    """A quota, which the cgroup below it has as well: throttled where it is set, effective where it is not."""
    mount = mount_of("cpu")
    above, below = cgroup(mount, "limited"), cgroup(mount, "limited/inner")
    v1 = (above / "cpu.cfs_quota_us").exists()
    (above / ("cpu.cfs_quota_us" if v1 else "cpu.max")).write_text("20000" if v1 else "20000 100000")
    run_in(background, below)
    wait_until(lambda: int(values_of(above / "cpu.stat")["nr_throttled"]) > 2, timeout=60)
    before = values_of(above / "cpu.stat")
    done = sonde("agent", "-c", config(tmp_path, f"cgroup = */sonde-test-{os.getpid()}/limited*"), "--max-frames", 1)
    after = values_of(above / "cpu.stat")
    (row,) = mine(done.stdout, "cgroup", "limited")
    (inner,) = mine(done.stdout, "cgroup", "limited/inner")
    assert int(before["nr_throttled"]) <= row["values"]["nr_throttled"] <= int(after["nr_throttled"])
    field, scale = ("throttled_time", 1) if v1 else ("throttled_usec", 1000)
    assert int(before[field]) * scale <= row["values"]["throttled"] <= int(after[field]) * scale
    assert row["values"]["cpu_quota"] == 20000 and row["values"]["effective_cpus"] == 0.2
    assert "cpu_quota" not in inner["values"] and inner["values"]["effective_cpus"] == 0.2
    assert inner["values"]["effective_cpus_from"] == row["keys"]["path"]
    assert inner["values"]["nr_throttled"] == 0


def test_memory(sonde, cgroup, tmp_path):
    path = cgroup(mount_of("memory"), "memory")
    v1 = (path / "memory.limit_in_bytes").exists()
    (path / ("memory.limit_in_bytes" if v1 else "memory.max")).write_text(str(64 << 20))
    done = sonde("agent", "-c", config(tmp_path, f"cgroup = */sonde-test-{os.getpid()}/memory"), "--max-frames", 1)
    (row,) = mine(done.stdout, "cgroup", "memory")
    assert row["values"]["memory_max"] == row["values"]["effective_memory_max"] == 64 << 20
    stat = values_of(path / "memory.stat")
    (memory,) = mine(done.stdout, "cgroup_memory_v1" if v1 else "cgroup_memory", "memory")
    assert set(memory["values"]) <= set(stat)
    assert memory["values"]["total_cache" if v1 else "file"] == 0


def test_removed_and_made_again(agent, cgroup, wait_until, tmp_path):
    """While it is watched: no row while it is not there, then one of another cgroup, whose counters began anew."""
    path = cgroup(UNIFIED or mount_of("cpuacct"), "again")
    running = agent("agent", "-c", config(tmp_path, f"cgroup = */sonde-test-{os.getpid()}/again"))
    seen = lambda: [row["keys"]["birth"] for row in mine(running.stdout, "cgroup", "again")]
    wait_until(lambda: len(seen()) > 2)
    assert set(seen()) == {0}
    for birth in (1, 2):
        path.rmdir()
        path.mkdir()
        wait_until(lambda: len(set(seen())) == birth + 1)
    assert running.end() == 0
    assert seen() == sorted(seen())
    last = rows(running.stdout, "cgroups")[-1]["values"]
    assert last["found"] == last["rows"] == 1 and last["vanished"] >= 2


def test_of_a_process(sonde, cgroup, background, wait_until, tmp_path):
    """pids: the cgroup in which it is and those above, no other."""
    mount = UNIFIED or mount_of("cpuacct")
    path, other = cgroup(mount, "of/inner"), cgroup(mount, "other")
    process = run_in(background, path)
    wait_until(lambda: str(process.pid) in (path / "cgroup.procs").read_text().split())
    done = sonde("agent", "-c", config(tmp_path, f"pids = {process.pid}"), "--max-frames", 1)
    paths = {row["keys"]["path"] for row in rows(done.stdout, "cgroup")}
    base = f"/sonde-test-{os.getpid()}"
    assert {f"{base}/of/inner", f"{base}/of", base, "/"} <= paths
    assert f"{base}/{other.name}" not in paths


def test_names_are_bytes(sonde, cgroup, tmp_path):
    """Blanks, a colon, an escape sequence, bytes that are no UTF-8; the kernel itself refuses a line feed."""
    path = cgroup(UNIFIED or mount_of("cpuacct"), "odd")
    odd = os.fsencode(path) + b"/a b:\xff\x1b[31m"
    os.mkdir(odd)
    try:
        done = sonde("agent", "-c", config(tmp_path, f"cgroup = */sonde-test-{os.getpid()}/odd/*"), "--max-frames", 1)
        (row,) = rows(done.stdout, "cgroup")
        assert "a b:" in row["keys"]["path"] and "[31m" in row["keys"]["path"]
        assert "\x1b" not in done.stdout
    finally:
        os.rmdir(odd)


def test_reparsed(sonde, cgroup, tmp_path):
    """Raw bytes of walks, settings and samples give the same rows again."""
    path = cgroup(UNIFIED or mount_of("cpuacct"), "raw")
    old, new = tmp_path / "old.sonde", tmp_path / "new.sonde"
    settings = tmp_path / "raw.ini"
    settings.write_text(f"[agent]\ninterval = 100ms\ncapture = raw\n[cgroup]\nrescan = 200ms\n[sink:file]\npath = {old}\n")
    done = sonde("agent", "-c", settings, "--max-frames", 6)
    assert done.returncode == 0, done.stderr
    assert sonde("reparse", old, "-o", new).returncode == 0
    before, after = sonde("cat", "--json", old).stdout, sonde("cat", "--json", new).stdout
    assert mine(before, "cgroup", path.name)
    assert after == before


def test_from_within_namespaces(sonde, build, cgroup, tmp_path):
    """An agent in namespaces of its own, the host's tree at root: the host's interfaces and cgroups, not its own."""
    inner = cgroup(UNIFIED or mount_of("cpuacct"), "inside")
    unshare = shutil.which("unshare")
    own = ["-m", "-n", "-p", "-f", "-C", "--mount-proc"]
    if not unshare or subprocess.run([unshare, *own, "true"], capture_output=True).returncode:
        pytest.skip("no namespaces can be made here (unshare)")
    host = tmp_path / "host"
    host.mkdir()
    settings = tmp_path / "inside.ini"
    settings.write_text(f"[agent]\ninterval = 100ms\nroot = {host}\n[net]\n[process]\n[cgroup]\n[sink:stdout]\nformat = json\n")
    script = (f"echo $$ >{inner}/cgroup.procs && exec {unshare} -C -n sh -c '{unshare} -m sh -c \"mount --rbind / {host} && exec {unshare} -p -f "
              f"--mount-proc {build}/sonde agent -c {settings} --max-frames 1\"'")
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    if "mount:" in done.stderr:
        pytest.skip(f"no bind mount can be made here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    interfaces = {line.split(":")[0].strip() for line in Path("/proc/1/net/dev").read_text().splitlines()[2:]}
    assert {row["keys"]["name"] for row in rows(done.stdout, "net")} == interfaces
    assert {1, os.getpid()} <= {row["keys"]["pid"] for row in rows(done.stdout, "process")}
    assert mine(done.stdout, "cgroup", "inside")
