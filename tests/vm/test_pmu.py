"""Hardware counters and NUMA nodes of an arm64 machine that qemu emulates, where the number of instructions is exact.

With -icount an instruction takes 2^shift cycles, so that instructions a cycle are known beforehand. `make check-pmu` builds sonde
for arm64 and fetches a kernel; see tools/deps. Expected values are those of the loop that is counted, and of the Arm ARM.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("SONDE_BUILD", HERE.parents[1] / "build/arm64")).resolve()
DEPS = Path(os.environ.get("SONDE_DEPS", HERE.parents[1] / "build/deps")).resolve() / "arm64"
CC = shlex.split(os.environ.get("CC", "aarch64-linux-gnu-gcc"))
SECONDS = 150
MIB = 1 << 20
# A CPU and half of the memory each; the firmware's distances are those of qemu's device tree.
NODES = [word for i in (0, 1) for word in ("-object", f"memory-backend-ram,id=m{i},size=256M", "-numa", f"node,nodeid={i},cpus={i},memdev=m{i}")]
NODES += ["-numa", "dist,src=0,dst=1,val=17"]


def rows(text, table):
    return [row for row in map(json.loads, text.splitlines()) if row["table"] == table]


def put(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def initrd(folder):
    """busybox, the C library of the cross compiler, sonde with its plugins and group files, as a newc archive."""
    root = folder / "root"
    put(DEPS / "bin/busybox", root / "bin/busybox")
    put(HERE / "pmu_init", root / "init")
    (root / "init").chmod(0o755)
    put(HERE / "pmu_scenario", root / "scenario")
    put(BUILD / "sonde", root / "bin/sonde")
    for plugin in (BUILD / "plugins").glob("*.so"):
        put(plugin, root / "plugins" / plugin.name)
    for groups in (HERE.parents[1] / "plugins/perf_event/groups").iterdir():
        put(groups, root / "etc/sonde/groups" / groups.name)
    (root / "bin").mkdir(exist_ok=True)
    for program in ("loop", "memory"):
        subprocess.run([*CC, "-O1", "-static", "-o", root / "bin" / program, HERE / f"{program}.c"], check=True)
    for library in ("ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"):
        found = subprocess.run([*CC, f"-print-file-name={library}"], check=True, capture_output=True, text=True).stdout.strip()
        put(found, root / "lib" / library)
    names = subprocess.run(["find", "."], cwd=root, check=True, capture_output=True).stdout
    archive = subprocess.run(["cpio", "-o", "-H", "newc", "-R", "0:0", "--quiet"], cwd=root, input=names, check=True,
                             capture_output=True).stdout
    (folder / "initrd").write_bytes(archive)
    return folder / "initrd"


def boot(folder, shift):
    """Runs the scenario in a guest; returns the folder of what it wrote."""
    kernel = next((DEPS / "boot").glob("vmlinuz-*"))
    disk, console = folder / "disk", folder / "console"
    disk.touch()
    os.truncate(disk, 32 << 20)
    command = ["qemu-system-aarch64", "-accel", "tcg,thread=single", "-icount", f"shift={shift},sleep=off",
               "-machine", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on", "-smp", "2", "-m", "512M", "-nodefaults", "-nographic",
               *NODES, "-no-reboot", "-serial", f"file:{console}", "-drive", f"file={disk},format=raw,if=none,id=out",
               "-device", "nvme,serial=out,drive=out", "-kernel", str(kernel), "-initrd", str(initrd(folder)),
               "-append", "console=ttyAMA0 panic=-1 quiet"]
    subprocess.run(command, timeout=SECONDS, check=True, stdin=subprocess.DEVNULL)
    out = folder / "out"
    with tarfile.open(disk) as archive:
        archive.extractall(out)
    assert (out / "status").exists(), console.read_text(errors="replace")[-2000:]
    print((out / "log").read_text(errors="replace")[-4000:])
    assert (out / "status").read_text() == "0\n"
    assert not (out / "failed").exists(), (out / "failed").read_text()
    return out


@pytest.fixture(scope="module", params=[0, 1], ids=["one cycle", "two cycles"])
def guest(request, tmp_path_factory):
    """(cycles an instruction, what the guest wrote)"""
    if not (BUILD / "sonde").exists() or not (DEPS / "boot").exists():
        pytest.skip(f"no sonde for arm64 in {BUILD}, or no kernel in {DEPS}: make check-pmu")
    return 2 ** request.param, boot(tmp_path_factory.mktemp("pmu"), request.param)


def test_a_command_from_its_first_instruction(guest):
    """10,000,000 instructions in user space, and what the kernel needs to start and end a program: below a tenth of it."""
    cycles, out = guest
    found = [row["values"] for row in rows((out / "command.json").read_text(), "perf_event_core_process")]
    assert found[0]["time_enabled"] == 0 and "instructions" not in found[0]
    last = found[-1]
    assert 10_000_000 < last["instructions"] < 11_000_000
    assert last["cycles"] == pytest.approx(cycles * last["instructions"], rel=0.01)
    assert last["time_running"] == last["time_enabled"] > 0


def test_cpus_and_one_that_goes_away(guest):
    cycles, out = guest
    text = (out / "cpus.json").read_text()
    of = {0: {}, 1: {}}
    for row in rows(text, "perf_event_core"):
        assert row["keys"]["pmu"] == "armv8_pmuv3"
        of[row["keys"]["cpu"]][row["sequence"]] = row["values"]
    frames = sorted(of[0])
    gone = [n for n in frames if n not in of[1]]
    assert gone and gone == list(range(gone[0], gone[-1] + 1))
    before, after = of[1][gone[0] - 1], of[1][gone[-1] + 1]
    assert after["instructions"] < before["instructions"]  # a new counter, not one that went back
    for values in (of[0][frames[-1]], before):
        assert values["cycles"] == pytest.approx(cycles * values["instructions"], rel=0.05) or values["cycles"] > values["instructions"]
    metrics = {row["keys"]["metric"] for row in rows(text, "perf_event_metric")}
    assert "ipc" in metrics


def test_groups_take_turns(guest):
    """Raw counts with both times: scaled by them they agree with what the whole time must have been."""
    cycles, out = guest
    text = (out / "turns.json").read_text()
    for name in "abcd":
        found = [row["values"] for row in rows(text, f"perf_event_{name}_process")]
        first, last = found[1], found[-1]
        enabled, running, instructions, ticks = (last[key] - first[key] for key in
                                                 ("time_enabled", "time_running", "instructions", "cycles"))
        assert 0 < running < enabled
        # Within one group exact, however little it ran; INST_RETIRED and CPU_CYCLES are 0x08 and 0x11.
        assert ticks == pytest.approx(cycles * instructions, rel=0.01)
        assert last["r0008"] - first["r0008"] == pytest.approx(instructions, rel=0.01)
        assert last["r0011"] - first["r0011"] == pytest.approx(ticks, rel=0.01)
        # 2^shift ns a cycle: what was counted in the time that it ran.
        assert instructions * cycles == pytest.approx(running, rel=0.1)


def test_what_does_not_fit_and_what_there_is_not(guest):
    _, out = guest
    text = (out / "odd.json").read_text()
    events = {(row["keys"]["group"], row["keys"]["event"]): row["values"] for row in rows(text, "perf_event")}
    parts = {event: values["part"] for (group, event), values in events.items() if group == "large"}
    assert set(parts.values()) == {0, 1} and sum(part == 0 for part in parts.values()) == 7
    assert rows(text, "perf_event_large_process") and rows(text, "perf_event_large_process_2")
    # CHAIN opens and never runs: nothing was counted, which is not 0.
    chain = rows(text, "perf_event_chain_process")[-1]["values"]
    assert chain["time_running"] == 0 and chain["time_enabled"] > 0 and "chain" not in chain
    # The kernel maps cache-misses to L1D_CACHE_REFILL, which this PMU lacks.
    assert events["l1d_refills", "l1d_refills"]["error"] == 2
    notes = " ".join(row["values"]["text"] for row in rows(text, "note"))
    assert "large on armv8_pmuv3 is split into 2" in notes
    assert "no such event" in notes


def test_nodes_of_an_arm64_machine(guest):
    """A device tree has them, and no ACPI: what each is, how far, and memory on the one where its process does not run."""
    _, out = guest
    text = (out / "nodes.json").read_text()
    distance = {(row["keys"]["node"], row["keys"]["to"]): row["values"]["distance"] for row in rows(text, "numa_distance")}
    assert distance == {(0, 0): 10, (0, 1): 17, (1, 0): 17, (1, 1): 10}
    assert {row["keys"]["node"]: row["values"]["cpulist"] for row in rows(text, "numa")} == {0: "0", 1: "1"}
    assert {row["keys"]["cpu"]: row["values"]["node"] for row in rows(text, "topology_cpu")} == {0: 0, 1: 1}
    pid = int((out / "far").read_text())
    maps = {row["keys"]["node"]: row["values"] for row in rows(text, "numa_maps") if row["keys"]["pid"] == pid}
    said = {}
    for line in (out / "numa_maps").read_text().splitlines():
        size = re.search(r"kernelpagesize_kB=(\d+)", line)
        for node, pages in re.findall(r" N(\d+)=(\d+)", line):
            said[int(node)] = said.get(int(node), 0) + int(pages) * int(size[1]) * 1024
    assert {node: values["bytes"] for node, values in maps.items()} == said
    assert 32 * MIB <= maps[1]["anon"] < 33 * MIB
    (processor,) = {row["values"]["processor"] for row in rows(text, "process")}
    assert processor == 0
