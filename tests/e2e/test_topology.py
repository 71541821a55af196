"""topology: captured machines beside lscpu's own output, this machine beside its lscpu, and machines larger than any here."""

import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from live import rows

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "generate"))
import machine  # noqa: E402

# What the collector reads: the trees hold thousands of files more.
READ = re.compile(
    r"(^|/)(sys/devices/system/(cpu/(online|offline|isolated|nohz_full|vulnerabilities/\w+|cpu\d+/(online|cpu_capacity|"
    r"topology/\w+_(id|list)|cache/index\d/(level|type|id|size|shared_cpu_list|coherency_line_size|ways_of_associativity|"
    r"number_of_sets)|cpufreq/\w+))|node/(online|node\d+/(cpulist|cpumap|distance)))|sys/devices/cpu_\w+/cpus|proc/cpuinfo)$"
)


@pytest.fixture
def topology(sonde, tmp_path):
    """{(table, *keys): values} of one sample; of a tree, or of this machine."""

    def run(root="", options="", frames=1):
        config = tmp_path / "topology.ini"
        config.write_text(f"[agent]\ninterval = 20ms\n{f'root = {root}' if root else ''}\n[topology]\n{options}\n"
                          "[sink:stdout]\nformat = json\n")
        done = sonde("agent", "-c", config, "--max-frames", frames)
        assert done.returncode == 0, done.stderr
        found = rows(done.stdout)
        last = max(row["sequence"] for row in found if row["instance"] == "topology")
        return {(row["table"], *row["keys"].values()): row["values"] for row in found if row["sequence"] == last}

    return run


@pytest.fixture
def tree(shared, tmp_path):
    def unpack(name):
        with tarfile.open(shared / f"{name}.tar.xz") as tar:
            tar.extractall(tmp_path / "tree", [m for m in tar if READ.search(m.name) and not m.issym() and not m.isdir()])
        (folder,) = (tmp_path / "tree").rglob("sys/devices/system/cpu")
        for mask in folder.parent.glob("node/node*/cpumap"):  # all that lscpu's trees have of nodes
            if not (mask.parent / "cpulist").exists():
                bits = int(mask.read_text().replace(",", ""), 16)
                (mask.parent / "cpulist").write_text(f"{machine.ranges([i for i in range(bits.bit_length()) if bits >> i & 1])}\n")
        return folder.parents[3]

    return unpack


def column(found, name, table="topology_cpu"):
    """{CPU: value}, of CPUs online."""
    return {key[1]: values.get(name) for key, values in found.items() if key[0] == table and values["online"]}


def groups(labels):
    """Which CPUs have the same label: what the labels are is each tool's own affair."""
    by_label = {}
    for cpu, label in labels.items():
        by_label.setdefault(label, set()).add(cpu)
    return sorted(map(sorted, by_label.values()))


def parsable(text):
    """lscpu -p: {column: {CPU: value}}."""
    names, found = [], {}
    for line in text.splitlines():
        if line.startswith("# CPU,"):
            if names:
                break  # further tables have other columns
            names = [name for name in line[2:].split(",")]
        elif re.match(r"\d", line) and names:
            words = dict(zip(names, line.split(",")))
            for name, value in words.items():
                found.setdefault(name, {})[int(words["CPU"])] = value
    return found


def size(text):
    """"1.5 MiB (48 instances)" -> KiB."""
    number, unit = text.split()[:2]
    return float(number) * {"KiB": 1, "MiB": 1024, "GiB": 1 << 20}[unit]


@pytest.mark.parametrize("name", ["s390-lpar", "x86_64-64cpu", "x86_64-epyc_7451"])
def test_as_lscpu_says(topology, tree, shared, name):
    found = topology(tree(f"corpus/lscpu-{name}"))
    with tarfile.open(shared / "corpus/lscpu-expected.tar.xz") as tar:
        said = tar.extractfile(f"./lscpu-{name}").read().decode()
    fields = {key.strip(): value.strip() for key, value in re.findall(r"^([^#\n:]+):(.*)$", said, re.M)}
    table = parsable(said)
    assert found["topology",]["online"] == fields["On-line CPU(s) list"]
    assert set(column(found, "core_cpu")) == set(table["CPU"])
    assert groups(column(found, "core_cpu")) == groups(table["Core"])
    assert groups(column(found, "socket_cpu")) == groups(table["Socket"])
    assert found["topology",]["cores"] == len(set(table["Core"].values()))
    assert found["topology",]["sockets"] == len(set(table["Socket"].values()))
    assert {cpu: str(node) if node is not None else "" for cpu, node in column(found, "node").items()} == table["Node"]
    for level, kind in ((1, "Data"), (1, "Instruction"), (2, "Unified"), (3, "Unified")):
        label = f"L{level}" + {"Data": "d", "Instruction": "i", "Unified": ""}[kind]
        caches = [values for key, values in found.items() if key[:3] == ("topology_cache", level, kind)]
        if f"{label} cache" not in fields:
            assert not caches
            continue
        assert len(caches) == int(re.search(r"(\d+) instances", fields[f"{label} cache"])[1])
        assert sum(cache["size"] for cache in caches) == pytest.approx(size(fields[f"{label} cache"]), rel=0.01)
        if level > 1:
            assert groups(column(found, f"l{level}_cpu")) == groups(table[label])
    for key, value in fields.items():
        if key.startswith("Vulnerability "):
            known = {re.sub(r"[_ ]", "", k[1]): v["state"] for k, v in found.items() if k[0] == "mitigation"}
            assert re.sub("[:;]", "", known[key[14:].lower().replace(" ", "")]) == re.sub("[:;]", "", value)
    if fields["Model name"] != "-":
        assert re.sub(r"\s+", " ", found["topology",]["model"]) == re.sub(r"\s+", " ", fields["Model name"])


def test_this_machine_as_its_lscpu_says(topology):
    done = subprocess.run(["lscpu", "-p=CPU,CORE,SOCKET,NODE,ONLINE"], capture_output=True, text=True, env={"LC_ALL": "C"})
    table = parsable(re.sub("(?m)^# .*ONLINE.*$|^# CPU.*$", "# CPU,Core,Socket,Node,Online", done.stdout))
    found = topology()
    online = {cpu for cpu, value in table["Online"].items() if value == "Y"}
    assert set(column(found, "core_cpu")) == online
    for name, label in (("core_cpu", "Core"), ("socket_cpu", "Socket"), ("node", "Node")):
        assert groups(column(found, name)) == groups({cpu: value for cpu, value in table[label].items() if cpu in online})
    for key, values in found.items():
        if key[0] == "sysctl":
            path = Path(key[1]) if key[1][0] == "/" else Path("/proc/sys") / key[1].replace(".", "/")
            assert values["value"] == path.read_text().splitlines()[0]


def cpu_list(text):
    return [n for part in text.strip().split(",") if part for n in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]


def read(path):
    return path.read_text().strip("\n\0 ") if path.is_file() else None


HWLOC = {
    # What the trees' names and README say: CPUs online, cores, sockets, nodes of CPUs.
    "hwloc-64amd64-4p2n4ca2co": (64, 32, 4, 8),
    "hwloc-20em64t-hybrid-1p6c2t-2ca4co1t": (20, 14, 1, None),
    "hwloc-128arm-2pa2n8cluster4co": (128, 128, 2, 4),
    "hwloc-256ppc-8n8s4t": (256, 64, 64, 8),
    "hwloc-nvidiagpunumanodes": (32, None, None, 2),
    "hwloc-offline-cpu0-node0": (None, None, None, None),
    "hwloc-fakeheteromemtiers": (None, None, None, None),
}


@pytest.mark.parametrize("name", HWLOC)
def test_captured_machines(topology, tree, name):
    """Beside what Python makes of the same files."""
    root = tree(f"corpus/{name}")
    found = topology(root)
    folder = root / "sys/devices/system"
    there = [int(path.name[3:]) for path in folder.glob("cpu/cpu[0-9]*")]
    online = cpu_list(read(folder / "cpu/online") or machine.ranges(sorted(there)))
    assert sorted(column(found, "core_cpu")) == online
    cpus, cores, count, nodes = HWLOC[name]
    total = found["topology",]
    assert total["cpus"] == (cpus or len(online))
    assert cores is None or total["cores"] == cores
    assert count is None or total["sockets"] == count
    node = {cpu: int(path.parent.name[4:]) for path in folder.glob("node/node*/cpulist") for cpu in cpu_list(read(path))}
    assert {cpu: n for cpu, n in column(found, "node").items() if n is not None} == {c: n for c, n in node.items() if c in online}
    assert nodes is None or len(set(node.values())) == nodes
    for cpu in online:
        siblings = read(folder / f"cpu/cpu{cpu}/topology/thread_siblings_list")
        assert found["topology_cpu", cpu].get("core_cpu") == (cpu_list(siblings)[0] if siblings else None)
        for index in (folder / f"cpu/cpu{cpu}/cache").glob("index*"):
            level, kind, shared = (read(index / file) for file in ("level", "type", "shared_cpu_list"))
            if level and kind and shared:
                cache = found["topology_cache", int(level), kind, cpu_list(shared)[0]]
                assert cache["shared"] == len(cpu_list(shared)) and cache.get("cpus", shared) == shared


def test_cpus_that_are_offline(topology, tree):
    """The README says it: CPUs 0-3 and 21-23 offline, only node 1."""
    found = topology(tree("corpus/hwloc-offline-cpu0-node0"))
    gone = [key[1] for key, values in found.items() if key[0] == "topology_cpu" and not values["online"]]
    assert set(gone) <= {0, 1, 2, 3, 21, 22, 23} and all(found["topology_cpu", cpu] == {"online": 0} for cpu in gone)
    assert set(column(found, "node").values()) == {1, None}  # those of node 0 have none


@pytest.mark.parametrize("cpus,nodes", [(1, 1), (1152, 9)])
def test_machines_larger_than_any_here(topology, tmp_path, cpus, nodes):
    """Case 90: more than the 1,024 CPUs of a cpu_set_t; every CPU, core, cache and node is told."""
    root = machine.machine(tmp_path / "large", cpus=cpus, nodes=nodes)
    found = topology(root)
    assert found["topology",]["cpus"] == cpus
    assert found["topology",]["cores"] == max(cpus // 2, 1)
    assert found["topology",]["sockets"] == nodes
    assert column(found, "node") == {cpu: machine.node_of(cpu, cpus, nodes) for cpu in range(cpus)}
    assert column(found, "core_cpu") == {cpu: machine.siblings(cpu, cpus)[0] for cpu in range(cpus)}
    assert sum(key[0] == "topology_cache" for key in found) == 3 * max(cpus // 2, 1) + nodes
    if cpus > 64:  # frequency limits have their turn, 64 a refresh
        found = topology(root, "refresh = 100ms", frames=11)
        assert sum(value is not None for value in column(found, "scaling_max_freq").values()) == 3 * 64


def test_command_line_is_private(topology, tmp_path):
    root = machine.machine(tmp_path / "tree")
    (root / "proc/cmdline").write_text("root=/dev/sda1 mitigations=off password=secret psi=1\n")
    assert topology(root)["topology",]["cmdline"] == "mitigations=off psi=1"
    assert "cmdline" not in topology(root, "cmdline = none")["topology",]
    assert topology(root, "cmdline = full")["topology",]["cmdline"] == "root=/dev/sda1 mitigations=off password=secret psi=1"
