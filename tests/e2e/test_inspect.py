"""sonde inspect: what a machine is and how it is set up. Of a tree whose every file is known, and of this machine beside lscpu
and /proc/sys."""

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

CPUS = 4
SYSCTLS = {"vm/zone_reclaim_mode": 1, "kernel/perf_event_paranoid": 3, "kernel/numa_balancing": 1, "vm/swappiness": 10}
FINDINGS = {
    "config.zone_reclaim": "warning",
    "config.governor": "info",
    "config.perf_paranoid": "info",
    "hp.sync_compaction": "warning",
    "hp.hugetlb_idle": "info",
}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


@pytest.fixture
def tree(tmp_path):
    """Two nodes of two CPUs, a cache of 1 MiB a node, and five settings that cost."""
    root = tmp_path / "tree"
    system, mm = root / "sys/devices/system", root / "sys/kernel/mm"
    write(system / "cpu/online", f"0-{CPUS - 1}")
    write(system / "node/online", "0-1")
    for cpu in range(CPUS):
        folder = system / f"cpu/cpu{cpu}"
        first = cpu // 2 * 2
        for name, text in {
            "topology/physical_package_id": cpu // 2, "topology/core_id": cpu % 2,
            "topology/core_siblings_list": f"{first}-{first + 1}", "topology/thread_siblings_list": cpu,
            "cache/index0/level": 3, "cache/index0/type": "Unified", "cache/index0/size": "1024K",
            "cache/index0/shared_cpu_list": f"{first}-{first + 1}",
            "cpufreq/scaling_governor": "powersave", "cpufreq/scaling_driver": "acpi-cpufreq",
        }.items():
            write(folder / name, text)
    for node in range(2):
        folder = system / f"node/node{node}"
        write(folder / "cpulist", f"{2 * node}-{2 * node + 1}")
        write(folder / "distance", "21 10" if node else "10 21")
        write(folder / "meminfo", f"Node {node} MemTotal: 8388608 kB\nNode {node} MemFree: 4194304 kB")
        write(folder / "numastat", "numa_hit 1\nnuma_miss 0\nlocal_node 1\nother_node 0")
    write(mm / "transparent_hugepage/enabled", "[always] madvise never")
    write(mm / "transparent_hugepage/defrag", "[always] defer madvise never")
    write(mm / "transparent_hugepage/hpage_pmd_size", 2097152)
    for name, text in {"nr": 1000, "free": 600, "resv": 40, "surplus": 0}.items():
        write(mm / f"hugepages/hugepages-2048kB/{name}_hugepages", text)
    for name, text in SYSCTLS.items():
        write(root / "proc/sys" / name, text)
    write(root / "proc/cpuinfo", "vendor_id : Some\nmodel name : Some CPU")
    return root


def document(sonde, *options):
    done = sonde("inspect", "--json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_what_it_is_and_what_costs(sonde, tree, root):
    report = document(sonde, "--root", tree)
    jsonschema.validate(report, json.loads((root / "docs/report.schema.json").read_text()))
    assert report["topology"] == {
        "cpus": 4, "online": "0-3", "model": "Some CPU", "sockets": 2, "cores": 4,
        "nodes": [{"node": 0, "cpus": "0-1", "memory": 8 << 30, "distances": [10, 21]},
                  {"node": 1, "cpus": "2-3", "memory": 8 << 30, "distances": [21, 10]}],
        "caches": [{"level": 3, "type": "Unified", "count": 2, "cpus": 2, "size": 1 << 20}],
        "governors": [{"governor": "powersave", "driver": "acpi-cpufreq", "cpus": 4}],
        "huge_pages": {"enabled": "always", "defrag": "always",
                       "pools": [{"size": 2 << 20, "pages": 1000, "free": 600, "reserved": 40}]},
        "settings": {name.replace("/", "."): str(value) for name, value in SYSCTLS.items()},
    }
    assert {finding["id"]: finding["severity"] for finding in report["findings"]} == FINDINGS


def test_as_text(sonde, tree):
    done = sonde("inspect", "--root", tree)
    assert (done.returncode, done.stderr) == (0, "")
    for line in [
        "machine   2 sockets, 4 cores, Some CPU",
        "nodes     0: CPUs 0-1, 8.00 GiB, distances 10 21",
        "caches    L3 Unified: 2 of 1.00 MiB, for 2 CPUs each",
        "frequency powersave of acpi-cpufreq: 4 CPUs",
        "huge      transparent: enabled always, defrag always",
        "          pool of 2.00 MiB: 1000 pages, 600 free, 40 of these reserved",
    ]:
        assert line in done.stdout.splitlines()
    assert all(f"{name}, about" in done.stdout for name in FINDINGS)
    assert "vm.swappiness" in done.stdout and "Metrics" not in done.stdout


def test_settings_that_cost_nothing(sonde, tree):
    """The same machine, set up well: nothing is found."""
    write(tree / "proc/sys/vm/zone_reclaim_mode", 0)
    write(tree / "proc/sys/kernel/perf_event_paranoid", 2)
    for cpu in range(CPUS):
        write(tree / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", "performance")
    write(tree / "sys/kernel/mm/transparent_hugepage/defrag", "always defer [madvise] never")
    write(tree / "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", 40)
    assert document(sonde, "--root", tree)["findings"] == []


def test_a_machine_that_tells_nothing_of_itself(sonde, tree):
    """Without sysctls what rests on them is not clear but unknown."""
    for name in SYSCTLS:
        (tree / "proc/sys" / name).unlink()
    done = sonde("inspect", "--root", tree)
    assert done.returncode == 0
    assert "unknown   config.zone_reclaim: " in done.stdout and "config.perf_paranoid: " in done.stdout


def test_hostile_names(sonde, tree):
    write(tree / "proc/cpuinfo", "vendor_id : Some\nmodel name : \x1b[2Jevil\u202e")
    write(tree / "proc/sys/vm/swappiness", "\x1b[31m60")
    text = sonde("inspect", "--root", tree).stdout
    assert "\x1b" not in text and "\u202e" not in text
    assert document(sonde, "--root", tree)["topology"]["model"].endswith("evil\u202e")


def test_this_machine(sonde):
    report = document(sonde)
    online = Path("/sys/devices/system/cpu/online").read_text().strip()
    assert report["topology"]["online"] == online
    swappiness = Path("/proc/sys/vm/swappiness")
    if swappiness.exists():
        assert report["topology"]["settings"]["vm.swappiness"] == swappiness.read_text().strip()
    said = subprocess.run(["lscpu", "-B", "-J", "-C=NAME,ONE-SIZE,ALL-SIZE"], capture_output=True, text=True, env={"LC_ALL": "C"})
    if said.returncode:
        pytest.skip("no lscpu that tells of caches")
    caches = report["topology"]["caches"]
    for cache in json.loads(said.stdout)["caches"]:
        mine = [c for c in caches if cache["name"] == f"L{c['level']}" + {"Data": "d", "Instruction": "i"}.get(c["type"], "")]
        assert sum(c["size"] * c["count"] for c in mine) == int(cache["all-size"])


@pytest.mark.parametrize("words, status, says", [
    (["now"], 2, "no operand"),
    (["--root", "/no/such/folder"], 1, "--root /no/such/folder: No such file"),
    (["--root", "/usr/bin"], 1, "--root /usr/bin: neither proc nor sys is in it"),
    (["--json", "--md"], 2, "two documents"),
])
def test_misuse(sonde, words, status, says):
    done = sonde("inspect", *words)
    assert done.returncode == status and says in done.stderr and done.stderr.count("\n") == 1
