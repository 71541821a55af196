"""sonde on machines that this one is not: Debian's kernel in guests that qemu emulates, with several NUMA nodes, throttled cgroups,
CPUs that go. `make check-vm` fetches qemu and the kernel (tools/deps). What is expected is what the scenario did, and what the
kernel in the guest said of it. Times are a tenth to a fiftieth of real ones' speed: nothing here depends on them."""

import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("SONDE_BUILD", HERE.parents[1] / "build")).resolve()
DEPS = Path(os.environ.get("SONDE_DEPS", HERE.parents[1] / "build/deps")).resolve()
SECONDS = 400
MIB = 1 << 20

# {group of tools/deps: what boots}: this machine's suite, and those that KERNELS= named.
KERNELS = {path.relative_to(DEPS).parts[0]: path
           for pattern in ("vm*/boot/vmlinuz-*", "vm*/usr/lib/modules/*/vmlinuz") for path in DEPS.glob(pattern)}

pytestmark = pytest.mark.skipif(
    not shutil.which("qemu-system-x86_64") or "vm" not in KERNELS or os.uname().machine != "x86_64",
    reason="no qemu-system-x86_64, or no kernel to boot: rm build/deps/vm.mk; make check-vm, on x86-64 with a network",
)


def nodes(cpus, sizes, distances):
    """qemu's options: CPUs of each node ("" for none), MiB, {(from, to): distance}."""
    options = ["-m", f"{sum(sizes)}M"]
    for i, (cpu, size) in enumerate(zip(cpus, sizes)):
        options += ["-object", f"memory-backend-ram,id=m{i},size={size}M"]
        options += ["-numa", f"node,nodeid={i},memdev=m{i}" + (f",cpus={cpu}" if cpu else "")]
    for (a, b), distance in distances.items():
        options += ["-numa", f"dist,src={a},dst={b},val={distance}"]
    return options


TWO = nodes(["0-1", "2-3"], [1024, 1024], {(0, 1): 21})
FOUR = nodes(["0-1", "2", "3", ""], [512, 384, 384, 384],
             {(0, 1): 12, (0, 2): 21, (0, 3): 31, (1, 2): 21, (1, 3): 31, (2, 3): 24})


def put(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def libraries(program):
    """Paths of the shared libraries that it needs, the loader's too."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return re.findall(r"(/[^ ]+) \(0x", text)


def initrd(folder):
    """busybox, sonde with its plugins and their libraries, the scenarios, as a newc archive."""
    root = folder / "root"
    root.mkdir(mode=0o755)
    put(DEPS / "vm/bin/busybox", root / "bin/busybox")
    put(HERE / "machine_init", root / "init")
    (root / "init").chmod(0o755)
    for scenario in HERE.glob("scenario_*"):
        put(scenario, root / scenario.name)
    programs = [BUILD / "sonde", BUILD / "microbench", *(BUILD / "plugins").glob("*.so")]
    for loaded in re.findall(r"=> (/.*/libbpf\.so\.1)$", subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout, re.M):
        for library in (loaded, *libraries(loaded)):
            put(library, root / library[1:])
    for program in programs:
        put(program, root / ("plugins" if program.suffix == ".so" else "bin") / program.name)
        for library in libraries(program):
            put(library, root / library[1:])
    for group in (HERE.parents[1] / "plugins/perf_event/groups").iterdir():
        put(group, root / "etc/sonde/groups" / group.name)
    for profile in (HERE.parents[1] / "conf/profiles").iterdir():
        put(profile, root / "share/sonde/profiles" / profile.name)
    subprocess.run(["gcc", "-O1", "-static", "-o", root / "bin/memory", HERE / "memory.c"], check=True)
    names = subprocess.run(["find", "."], cwd=root, check=True, capture_output=True).stdout
    archive = subprocess.run(["cpio", "-o", "-H", "newc", "-R", "0:0", "--quiet"], cwd=root, input=names, check=True,
                             capture_output=True).stdout
    (folder / "initrd").write_bytes(archive)
    return folder / "initrd"


def boot(folder, kernel, scenario, options, append):
    """Runs a scenario in a guest; returns the folder of what it wrote. One vCPU thread and no cmpxchg16b: qemu 7.2 emulates neither
    well enough for newer kernels."""
    disk, console = folder / "disk", folder / "console"
    disk.touch()
    os.truncate(disk, 64 * MIB)
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=single", "-machine", "q35", "-cpu", "max,-cx16", "-smp", "4",
               "-nodefaults", "-nographic", "-no-reboot", "-serial", f"file:{console}",
               "-drive", f"file={disk},format=raw,if=none,id=out", "-device", "nvme,serial=out,drive=out",
               "-kernel", str(kernel), "-initrd", str(initrd(folder)), *options,
               "-append", f"console=ttyS0 panic=-1 quiet {append} scenario={scenario}"]
    subprocess.run(command, timeout=SECONDS, check=True, stdin=subprocess.DEVNULL)
    out = folder / "out"
    try:
        with tarfile.open(disk) as archive:
            archive.extractall(out)
    except tarfile.ReadError:
        pytest.fail(f"the guest wrote nothing:\n{console.read_text(errors='replace')[-3000:]}")
    assert (out / "status").read_text() == "0\n", (out / "log").read_text(errors="replace")[-3000:]
    return out


def rows(path, *tables):
    found = map(json.loads, path.read_text(errors="replace").splitlines())
    return [row for row in found if row["table"] in tables]


def last(found):
    """{keys: values} of the newest row of each."""
    return {tuple(row["keys"].values()): row["values"] for row in found}


@pytest.fixture(scope="module", params=sorted(KERNELS) or [None])
def two(request, tmp_path_factory):
    return boot(tmp_path_factory.mktemp("two"), KERNELS[request.param], "all", TWO, "psi=1 schedstats=enable")


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return boot(tmp_path_factory.mktemp("four"), KERNELS["vm"], "bare", FOUR, "psi=0")


def by_node(text):
    """Bytes by node, of the text of numa_maps."""
    found = {}
    for line in text.splitlines():
        size = re.search(r"kernelpagesize_kB=(\d+)", line)
        for node, pages in re.findall(r" N(\d+)=(\d+)", line):
            found[int(node)] = found.get(int(node), 0) + int(pages) * int(size[1]) * 1024
    return found


def test_memory_on_another_node(two):
    """Bound to node 1, running on CPU 0, which is of node 0."""
    pid = int((two / "far").read_text())
    maps = {key[2]: values for key, values in last(rows(two / "all.json", "numa_maps")).items() if key[0] == pid}
    assert {node: values["bytes"] for node, values in maps.items()} == by_node((two / "numa_maps").read_text())
    assert maps[1]["bytes"] > 0.95 * sum(values["bytes"] for values in maps.values())
    policies = {key[2]: values for key, values in last(rows(two / "all.json", "numa_maps_policy")).items() if key[0] == pid}
    assert policies["bind:1"]["bytes"] == 100 * MIB
    process = {key[0]: values for key, values in last(rows(two / "all.json", "process")).items()}[pid]
    cpus = last(rows(two / "all.json", "topology_cpu"))
    assert process["processor"] == 0 and cpus[(0,)]["node"] == 0


def test_nodes(two):
    table = last(rows(two / "all.json", "numa_distance"))
    assert {key: values["distance"] for key, values in table.items()} == {(0, 0): 10, (0, 1): 21, (1, 0): 21, (1, 1): 10}
    first = {row["keys"]["node"]: row["values"]["cpulist"] for row in reversed(rows(two / "all.json", "numa"))}
    assert first == {0: "0-1", 1: "2-3"}


def test_huge_pages_of_one_node(two):
    pools = last(rows(two / "all.json", "hugetlb_node"))
    assert pools[(1, 2048)]["nr_hugepages"] == 4 and pools[(1, 2048)]["free_hugepages"] == 2
    assert pools[(0, 2048)]["nr_hugepages"] == 0
    pid = int((two / "huge").read_text())
    maps = {key[2]: values for key, values in last(rows(two / "all.json", "numa_maps")).items() if key[0] == pid}
    assert maps[1]["hugetlb"] == 4 * MIB
    shares = {key[0]: values for key, values in last(rows(two / "all.json", "smaps")).items()}[pid]
    assert shares["private_hugetlb"] == 4096 and shares["pss"] < 4096


def test_a_throttled_cgroup(two):
    (cgroup,) = [values for key, values in last(rows(two / "all.json", "cgroup")).items() if "/slow" in key]
    said = dict(line.split() for line in (two / "cpu.stat").read_text().splitlines())
    assert 0 < cgroup["nr_throttled"] <= int(said["nr_throttled"])
    assert 0 < cgroup["nr_periods"] <= int(said["nr_periods"])
    assert cgroup["nr_throttled"] / cgroup["nr_periods"] > 0.5


def course(found, key):
    """First and last value of a column."""
    values = [row["values"][key] for row in found if key in row["values"]]
    return values[0], values[-1]


def words(path):
    return {key: int(value) for key, value in (line.split() for line in path.read_text().splitlines())}


def test_memory_that_follows_its_work(two):
    """NUMA balancing: pages that were first touched on node 1 are touched from node 0, and move there."""
    after, found = words(two / "vmstat"), rows(two / "all.json", "vmstat")
    for key in ("numa_hint_faults", "numa_pages_migrated"):
        first, last = course(found, key)
        assert first < last <= after[key]
    pid = int((two / "wander").read_text())
    placed = {}  # a node where nothing is has no row
    for row in rows(two / "all.json", "numa_maps"):
        if row["keys"]["pid"] == pid:
            placed.setdefault(row["sequence"], {})[row["keys"]["node"]] = row["values"]["bytes"]
    first, last = placed[min(placed)], placed[max(placed)]
    assert last.get(1, 0) < first.get(1, 0) and last.get(0, 0) > first.get(0, 0)


def test_huge_pages_that_do_not_fit(two):
    """What the scenario did is 8 faults: huge pages as long as the cgroup has room, then the fallback."""
    before, after = words(two / "thp_before"), words(two / "thp_after")
    fallbacks = after["thp_fault_fallback"] - before["thp_fault_fallback"]
    assert fallbacks >= 5 and after["thp_fault_alloc"] > before["thp_fault_alloc"]
    told = [row["values"] for row in rows(two / "all.json", "thp_events", "vmstat") if "thp_fault_fallback" in row["values"]]
    assert told and told[-1]["thp_fault_fallback"] >= after["thp_fault_fallback"]
    pid = int((two / "fallback").read_text())
    shares = {key[0]: values for key, values in last(rows(two / "all.json", "smaps")).items()}
    assert shares[pid]["anon_huge_pages"] == 2048 * (after["thp_fault_alloc"] - before["thp_fault_alloc"])


def test_a_cgroup_above_its_limit(two):
    said = words(two / "memory.events")
    (events,) = [values for key, values in last(rows(two / "all.json", "cgroup")).items() if "/pressed" in key]
    assert 0 < events["events_high"] <= said["high"]
    stalled = [row["values"]["some_total"] for row in rows(two / "all.json", "cgroup_pressure")
               if row["keys"]["path"] == "/pressed" and row["keys"]["resource"] == "memory"]
    assert stalled[-1] > stalled[0]


def test_schedstat_of_this_kernel(two):
    """The version that Documentation/scheduler/sched-stats.rst gives it; counts from when they were switched on."""
    text = (two / "schedstat").read_text()
    state = [row["values"] for row in rows(two / "all.json", "schedstat_state")]
    major, minor = map(int, re.match(r"(\d+)\.(\d+)", (two / "kernel").read_text()).groups())
    assert state[-1]["version"] == int(re.match(r"version (\d+)", text)[1])
    assert state[-1]["version"] == (15 if (major, minor) < (6, 10) else 16 if (major, minor) < (6, 14) else 17)
    assert state[0]["enabled"] == 0 and state[-1]["enabled"] == 1
    counts = [row["values"]["sched_count"] for row in rows(two / "all.json", "schedstat") if row["keys"]["cpu"] == 0]
    assert counts[0] == counts[1] and counts[-1] > counts[0]


def test_a_cpu_that_goes_and_returns(two):
    """Its row is absent meanwhile, never its last values, and comes back."""
    there = {}
    for row in rows(two / "all.json", "cpu"):
        there.setdefault(row["sequence"], set()).add(row["keys"]["cpu"])
    seen = [3 in cpus for _, cpus in sorted(there.items())]
    assert seen[0] and seen[-1] and not all(seen)
    gone = seen.index(False)
    assert not any(seen[gone:gone + 1]) and all({0, 1, 2} <= cpus for cpus in there.values())
    online = [row["values"]["online"] for row in rows(two / "all.json", "topology_cpu") if row["keys"]["cpu"] == 3]
    assert online[0] == 1 and 0 in online and online[-1] == 1


def test_an_ordinary_user(two):
    found = rows(two / "user.json", "cpu", "meminfo", "numa", "process")
    assert {row["table"] for row in found} == {"cpu", "meminfo", "numa", "process"}


def test_report(two):
    """Read in the guest too: the loop that the cgroup held back is found."""
    text = (two / "report").read_text()
    assert "NUMA nodes 0-1" in text
    assert re.search(r"cpu\.process_runq_wait, about process \d+ \(sh\)", text)


def test_a_node_without_cpus(four):
    """Memory bound to it is there and nowhere else; it is a node like others, with no CPU of its own."""
    numa = last(rows(four / "bare.json", "numa"))
    assert [numa[(n,)]["cpulist"] for n in range(4)] == ["0-1", "2", "3", ""]
    assert last(rows(four / "bare.json", "numa_distance"))[0, 3]["distance"] == 31
    pid = int((four / "far").read_text())
    maps = {key[2]: values for key, values in last(rows(four / "bare.json", "numa_maps")).items() if key[0] == pid}
    assert maps[3]["anon"] == 64 * MIB
    assert {values["node"] for values in last(rows(four / "bare.json", "topology_cpu")).values()} == {0, 1, 2}


def test_psi_and_schedstats_are_off(four):
    """A note each that says what would switch them on; no row, and 0 is not taken for none."""
    notes = {row["values"]["instance"]: row["values"]["text"] for row in rows(four / "bare.json", "note")}
    assert "psi=0" in notes["psi"] and not rows(four / "bare.json", "psi")
    assert "kernel.sched_schedstats=1" in notes["schedstat"]
    assert all(row["values"]["enabled"] == 0 for row in rows(four / "bare.json", "schedstat_state"))


# ---- programs that do one thing wrong


@pytest.fixture(scope="module")
def benches(tmp_path_factory):
    return boot(tmp_path_factory.mktemp("benches"), KERNELS["vm"], "microbench", TWO, "psi=1")


def found_in(path):
    return {finding["id"]: finding for finding in json.loads(path.read_text())["findings"]}


def test_latency_of_another_nodes_memory(benches):
    """256 MiB on node 1, read on CPU 0: told of the process, with the mapping that it is."""
    found = found_in(benches / "latency.json")["numa.process_misplaced"]
    evidence = {item["name"]: item["value"] for item in found["evidence"]}
    assert "microbench" in found["about"]
    assert evidence["ran on node 0"] == 1 and evidence["memory on node 1"] > 0.9
    mappings = {name: value for name, value in evidence.items() if name.startswith("anonymous memory at")}
    assert [name.endswith("on node 1") for name, value in mappings.items() if value > 0.9] == [True]


def test_memory_in_pieces(benches):
    """Huge pages of what was given back by pages: compaction at each fault, as the kernel's own count says."""
    before, after = (int((benches / name).read_text().split()[1]) for name in ("before", "after"))
    found = found_in(benches / "fragment.json")["hp.compaction_stalls"]
    evidence = {item["name"]: item["value"] for item in found["evidence"]}
    assert 0 < evidence["hp.compaction_stalls"] * found["when"]["held"] <= 1.001 * (after - before)


# ---- tasks


@pytest.fixture(scope="module", params=sorted(KERNELS) or [None])
def tasks(request, tmp_path_factory):
    return boot(tmp_path_factory.mktemp("tasks"), KERNELS[request.param], "tasks", ["-m", "768M"], "delayacct")


def test_bpf_and_proc_say_the_same(tasks):
    """Of a process that stands still, on a kernel whose structs are not those of the machine that built the program."""
    notes = [row["values"]["text"] for row in rows(tasks / "bpf.json", "note")]
    if any("libbpf.so.1" in note or "without clang" in note for note in notes):
        pytest.skip(notes[0])
    assert not any("not by BPF" in note for note in notes)
    for table in ("process", "thread"):
        proc, bpf = (last(rows(tasks / name, table)) for name in ("proc.json", "bpf.json"))
        assert len(proc) == 1 and bpf == proc
    (values,) = proc.values()
    assert values["sched_run"] > 0


def test_all_tasks_of_the_machine(tasks):
    found = rows(tasks / "all.json", "process")
    assert {1, 2, int((tasks / "still").read_text())} <= {row["keys"]["pid"] for row in found}
    by_pid = {row["keys"]["pid"]: row["values"] for row in found}
    assert by_pid[2]["comm"] == "kthreadd" and "vm_rss" not in by_pid[2]
    assert by_pid[1]["vm_rss"] > 0 and by_pid[int((tasks / "still").read_text())]["state"] == "T"


def test_delays_and_ends(tasks):
    """delayacct: waiting for the disk is counted; a shell that ended with 7 is told."""
    ends = rows(tasks / "all.json", "task_exit")
    shell = [row["values"] for row in ends if row["keys"]["pid"] == int((tasks / "ended").read_text())]
    assert [values["exitcode"] for values in shell] == [7 << 8] and shell[0]["flag"] & 32
    (copy,) = [row["values"] for row in ends if row["values"].get("comm") == "dd"]
    assert copy["blkio_count"] > 0 and copy["blkio_delay_total"] > 0 and copy["read_bytes"] >= 32 * MIB
    living = last(rows(tasks / "all.json", "taskstats"))
    assert all("blkio_delay_total" in values and "wpcopy_count" in values for values in living.values())
