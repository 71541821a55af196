"""sonde demo: of a fault that was put into a machine the report says that one and no other, and its metrics are the numbers
that were put in."""

import json
import subprocess

import pytest

# What was put in (the numbers of framework/demo/scenarios.c, or a sum of two that is done here by hand), and what has to be found.
SCENARIOS = {
    "healthy": (
        [],
        {"cpu.utilisation": 0.255, "cpu.user": 0.2, "cpu.iowait": 0.01, "cpu.pressure": 0.02, "cpu.tasks_waiting": 0.1,
         "mem.used": 1 - 84000 / 131072, "cache.ipc": 1.4, "cache.branch_misses": 0.006,
         "numa.remote_allocations": 1500 / 49500, "io.busy disk nvme0n1": 0.08, "mem.faults": 30000},
    ),
    "numa_misplaced": (
        ["critical numa.process_misplaced process 3800 (analytics)", "warning hp.compaction_stalls host",
         "warning numa.node_exhausted node 1", "warning hp.low_coverage host", "warning numa.access_locality host",
         "warning hp.thp_fallback host", "warning numa.remote_alloc host", "warning cache.tlb_pressure host",
         "warning cache.memory_bound host", "warning hp.sync_compaction host", "info hp.hugetlb_idle pool of 2048 kB pages"],
        {"numa.mismatch process 3800 (analytics)": 0.85, "numa.remote_share process 3800 (analytics)": 0.85,
         # 15 % at distance 10, 85 % at 21
         "numa.expected_distance process 3800 (analytics)": 19.35, "cache.ipc": 0.6, "cache.llc_misses_per_1000": 17.9,
         "cache.dtlb_misses": 0.03, "cache.backend_bound": 0.72,
         # 85 % of 30e9 bytes a second
         "mem.bandwidth": 30e9, "mem.bandwidth socket 0": 4.5e9, "mem.bandwidth socket 1": 25.5e9, "hp.fallback": 0.44, "hp.compaction_stalls": 12, "hp.coverage": 0.04,
         "numa.remote_allocations": 0.35, "numa.hint_locality": 0.25, "numa.free_share node 1": 0.02},
    ),
    "thp_fragmented": (
        ["warning hp.compaction_stalls host", "warning hp.thp_fallback host", "warning delay.memory process 3900 (import)",
         "warning hp.sync_compaction host"],
        # 0.9 + 1.1 s on CPUs, 0.8 s of it compacting
        {"delay.compaction process 3900 (import)": 0.8, "delay.cpu process 3900 (import)": 2,
         "hp.fallback": 0.85, "hp.compaction_stalls": 85, "hp.compaction_failures": 70},
    ),
    "cpu_saturated": (
        ["critical cpu.saturation host", "critical cpu.process_runq_wait process 3100 (render)"],
        {"cpu.utilisation": 1, "cpu.pressure": 0.82, "cpu.tasks_waiting": 32, "cpu.tasks_runnable": 64,
         # 36 s of waiting and 24 of running, each second
         "cpu.process_wait process 3100 (render)": 0.6, "cpu.wait_per_slice": 32e9 / 12000},
    ),
    "cpu_pinned": (
        ["critical cpu.saturation host", "critical cpu.process_runq_wait process 3700 (encoder)",
         "warning cpu.imbalance cpu 0"],
        # four CPUs at 100 %, 28 at 8 + 5 + 0.5 %
        {"cpu.utilisation": (4 + 28 * 0.135) / 32, "cpu.spread": 1 - 0.135, "cpu.tasks_waiting": 4},
    ),
    "irq_storm": (
        ["warning cpu.imbalance cpu 0"],
        {"cpu.softirq": (0.96 + 31 * 0.005) / 32},
    ),
    "steal": (["warning cpu.steal host"], {"cpu.steal": 0.22}),
    "lock_contention": (
        ["info cpu.blocking host"],
        # 32 backends; systemd, the first of eight threads of api, eight of nginx and 16 of postgres
        {"cpu.voluntary_switches": 32 * 6500 + 20 + 880 / 8 + 8 * 790 + 16 * 560, "cpu.switches": 270000},
    ),
    "cgroup_throttled": (
        ["critical cgroup.throttled cgroup /system.slice/api.service"],
        {"cpu.user": 0.3},
    ),
    "memory_pressure": (
        ["critical mem.swapping host", "critical mem.pressure host", "warning mem.major_faults process 3200 (java)",
         "warning mem.major_faults process 3201 (java)", "warning mem.direct_reclaim host", "warning mem.low_available host"],
        {"mem.pressure_full": 0.18, "mem.pressure_some": 0.41, "mem.swap_in": 2400, "mem.swap_out": 2600,
         "mem.allocation_stalls": 240, "mem.refaults": 6400, "mem.available": 2600 * 1048576, "mem.swap_share": 1 - 900 / 8192,
         "mem.major_faults": 2200, "mem.kswapd_scan": 90000, "io.wait disk nvme0n1": 200000},
    ),
    "oom": (
        ["critical mem.oom host", "warning mem.low_available host"],
        {"mem.oom_kills": 0.1, "mem.available_least": 1900 * 1048576},
    ),
    "cold_cache": (
        ["warning mem.major_faults process 3300 (mongod)"],
        {"mem.major_faults": 1800, "io.read disk nvme0n1": 118 * 1048576, "io.pressure_some": 0.09},
    ),
    "frequency_capped": (["warning config.frequency_capped host"], {"cpu.user": 0.5}),
    # six slots a cycle: 100 - 46 - 22 - 9 % retired
    "code_footprint": (
        ["info cache.frontend_bound host"],
        {"cache.frontend_bound": 0.46, "cache.backend_bound": 0.22, "cache.bad_speculation": 0.09, "cache.retiring": 0.23, "cache.ipc": 0.9},
    ),
    # 4 + 2.5 a second, of a minute, on each CPU of socket 0
    "too_hot": (["warning cpu.thermal cpu 0"], {"cpu.user": 0.82, "cache.clock": 2.1e9 * 0.875}),
    "mthp_fragmented": (["info hp.mthp_fallback pages of 64 kB"], {"mem.faults": 45000}),
    "hugetlb_one_node": (["info hp.node_pool_empty node 0"], {"hp.pool_used": 1 - 500 / 4096}),
    "slow_cores": (["warning cpu.slow_cores process 3950 (solver)"], {"cpu.utilisation": 0.255}),
    "fault_storm": (["warning mem.minor_fault_storm process 3400 (gateway)"], {"mem.faults": 930000}),
    "io_beside_work": (
        ["info io.pressure host"],
        {"io.pressure_some": 0.62, "cpu.iowait": 0.01, "cpu.utilisation": 0.965,
         # by Little's law 2,300 requests a second that take 8 ms
         "io.queue disk nvme0n1": 18.4, "io.wait disk nvme0n1": 8e6},
    ),
    "io_bound": (
        ["info delay.block_io process 3500 (clickhouse)", "info cpu.iowait host"],
        # by Little's law 7,000 requests a second that take 4.5 ms are 31.5 at a time
        # of 32 threads 23 wait for the disk, 0.8 + 0.7 are on CPUs, 0.01 in the queue
        {"delay.block_io process 3500 (clickhouse)": 23, "delay.blocked process 3500 (clickhouse)": 32 - 23 - 1.51,
         "cpu.iowait": 0.36, "io.busy disk nvme0n1": 0.99, "io.queue disk nvme0n1": 31.5, "io.wait disk nvme0n1": 4.5e6,
         "io.pressure_full": 0.52, "io.written disk nvme0n1": 44 * 1048576},
    ),
}


@pytest.mark.parametrize("name", ["healthy", "numa_misplaced", "memory_pressure"])
def test_a_metric_lies_between_the_ends_of_its_course(sonde, name):
    """Both are told in the same unit."""
    report = json.loads(sonde("demo", name, "--json").stdout)
    whole = {metric["name"]: metric for metric in report["metrics"] if not metric["about"]}
    assert len(report["series"]) > 40
    for series in report["series"]:
        metric, values = whole[series["metric"]], series["value"]
        assert (metric["unit"], metric["counted"]) == (series["unit"], series["counted"])
        assert min(values) - abs(metric["value"]) / 1e4 <= metric["value"] <= max(values) + abs(metric["value"]) / 1e4, series["metric"]


def test_the_list_names_them(sonde):
    done = sonde("demo", "--list")
    assert done.returncode == 0
    assert {line.split()[0] for line in done.stdout.splitlines()} == set(SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_finds_what_was_put_in_and_nothing_else(sonde, name):
    done = sonde("demo", name, "--json", check=True)
    document = json.loads(done.stdout)
    findings, truths = SCENARIOS[name]
    assert done.stderr == ""
    not_judged = [j["id"] for j in document["catalogue"]["judgements"] if j["verdict"] == "not_judged"]
    assert [i for i in not_judged if not i.startswith("cgroup.")] == []  # the machine has no control groups
    assert [f"{f['severity']} {f['id']} {f['about']}" for f in document["findings"]] == findings
    metrics = {" ".join([m["name"], m["about"] or ""]).strip(): m["value"] for m in document["metrics"]}
    for metric, truth in truths.items():
        assert metrics[metric] == pytest.approx(truth, rel=1e-3), metric


def test_the_machine(sonde):
    document = json.loads(sonde("demo", "healthy", "--json").stdout)
    topology = document["topology"]
    assert (topology["cpus"], topology["sockets"], topology["cores"]) == (32, 2, 32)
    assert [(node["cpus"], node["distances"]) for node in topology["nodes"]] == [("0-15", [10, 21]), ("16-31", [21, 10])]
    assert [(cache["level"], cache["count"], cache["size"]) for cache in topology["caches"]] == [
        (1, 32, 48 << 10), (1, 32, 32 << 10), (2, 32, 2 << 20), (3, 2, 32 << 20)]
    assert topology["governors"] == [{"governor": "performance", "driver": "intel_pstate", "cpus": 32}]
    assert document["window"]["seconds"] == 60
    assert document["data_quality"]["notes"] == [] and document["data_quality"]["gaps"] == []


def test_a_recording_like_any_other(sonde, tmp_path):
    """Its report is the demo's; its raw bytes make the same rows again."""
    file, again = tmp_path / "demo.sonde", tmp_path / "again.sonde"
    done = sonde("demo", "memory_pressure", "-o", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sonde("report", file).stdout == sonde("demo", "memory_pressure").stdout
    assert sonde("reparse", file, "-o", again).returncode == 0
    assert sonde("cat", "--json", again).stdout == sonde("cat", "--json", file).stdout
    assert sonde("demo", "healthy", "-o", file).returncode == 1  # never over another


def test_a_recording_and_documents_at_once(sonde, tmp_path):
    file, page = tmp_path / "demo.sonde", tmp_path / "demo.md"
    done = sonde("demo", "steal", "-o", file, f"--md={page}", "--json")
    assert json.loads(done.stdout)["findings"][0]["id"] == "cpu.steal"
    assert "cpu.steal" in page.read_text()
    assert sonde("report", "--json", file).stdout == done.stdout


def test_the_same_bytes_everywhere(build, sonde):
    here = sonde("demo", "io_bound").stdout
    there = subprocess.run([build / "sonde", "demo", "io_bound"], capture_output=True, text=True, timeout=60,
                           env={"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Kathmandu"})
    assert there.stdout == here and there.stderr == ""


@pytest.mark.parametrize("words, says", [
    ([], "one scenario"),
    (["healthy", "oom"], "one scenario"),
    (["heathy"], 'did you mean "healthy"'),
    (["nothing_like_it"], "--list"),
    (["--list", "oom"], "--list takes no scenario"),
    (["oom", "--json", "--md"], "two documents"),
    (["oom", "-o", "-", "--json"], "give the document a file"),
])
def test_misuse(sonde, words, says):
    done = sonde("demo", *words)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1


def test_what_quota_would_have_held(sonde):
    """It used its four CPUs, and its threads waited for 1.8 s a second: with 5.8 nobody would have waited."""
    (finding,) = json.loads(sonde("demo", "cgroup_throttled", "--json").stdout)["findings"]
    evidence = {item["name"]: item["value"] for item in finding["evidence"]}
    assert evidence["cgroup.throttled"] == pytest.approx(0.7) and evidence["cgroup.quota"] == 4
    assert evidence["cgroup.cpus_used"] == pytest.approx(4) and evidence["cgroup.cpus_waiting"] == pytest.approx(1.8)
    assert "5.8 CPUs" in finding["action"] and "CPUQuota=580%" in finding["action"]


@pytest.mark.parametrize("name, resource, about, cells", [
    # a quota of four CPUs, all used, used up in seven periods of ten
    ("cgroup_throttled", "cgroups, CPU", "cgroup /system.slice/api.service", {"utilisation": ("cgroup.cpu_share", 1), "saturation": ("cgroup.throttled", 0.7)}),
    ("numa_misplaced", "NUMA interconnect", "", {"utilisation": ("numa.remote_allocations", 0.35)}),
    ("numa_misplaced", "TLB", "", {"saturation": ("cache.dtlb_misses", 0.03)}),
    ("numa_misplaced", "memory bandwidth", "", {"utilisation": ("mem.bandwidth", 30e9)}),
    # 100 - 7 - 72 - 3 % of slots
    ("numa_misplaced", "pipeline", "", {"utilisation": ("cache.retiring", 0.18), "saturation": ("cache.backend_bound", 0.72),
                                        "errors": ("cache.bad_speculation", 0.03)}),
])
def test_utilisation_saturation_errors(sonde, name, resource, about, cells):
    lines = json.loads(sonde("demo", name, "--json", check=True).stdout)["use"]
    (line,) = [line for line in lines if (line["resource"], line["about"]) == (resource, about)]
    for cell in ("utilisation", "saturation", "errors"):
        if cell not in cells:
            assert line[cell] is None
            continue
        metric, value = cells[cell]
        assert line[cell]["metric"] == metric and line[cell]["value"] == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("name, said", [
    ("too_hot", {"cpu.throttles": (4 + 2.5) * 60, "cpu.throttled_cpus": 16}),
    ("mthp_fragmented", {"hp.size_fallback": 0.35, "hp.size_faults": 2000 * 60}),
    ("hugetlb_one_node", {"hp.node_pages": 2048, "hp.idle_pages": 500}),
])
def test_evidence(sonde, name, said):
    (finding,) = json.loads(sonde("demo", name, "--json").stdout)["findings"]
    assert {item["name"]: pytest.approx(item["value"]) for item in finding["evidence"]} == said


def test_who_uses_the_disk(sonde):
    """130 MiB read and 130 written each second by the copy; the computation has no I/O."""
    (finding,) = json.loads(sonde("demo", "io_beside_work", "--json").stdout)["findings"]
    evidence = {item["name"]: item["value"] for item in finding["evidence"]}
    assert evidence["disk nvme0n1, queue"] == pytest.approx(18.4, rel=1e-3)
    assert evidence["process 3520 (rsync)"] == pytest.approx(260 * 1048576, rel=1e-3)
    assert not any("3510" in name for name in evidence)


def test_advice_fits_the_machine(sonde):
    """Node 1 is full, so nothing is to be bound there; node 0 has room for what would move."""
    document = json.loads(sonde("demo", "numa_misplaced", "--json").stdout)
    action = document["findings"][0]["action"]
    evidence = {item["name"]: item["value"] for item in document["findings"][0]["evidence"]}
    # of the 85 % on node 1 three quarters are a segment of shared memory
    assert evidence["/dev/shm/analytics on node 1"] == pytest.approx(0.85 * 3 / 4)
    assert evidence["anonymous memory at 7f8000000000 on node 1"] == pytest.approx(0.85 / 4)
    assert "migratepages 3800 1 0" in action
    assert "--cpunodebind=1" not in action and "taskset" not in action
    idle = [item for f in document["findings"] if f["id"] == "hp.hugetlb_idle" for item in f["evidence"]]
    assert idle[0]["value"] == 4 << 30
