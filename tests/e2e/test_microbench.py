"""contrib/microbench: each program's fault is found where it runs under sonde profile. Thresholds are low: how many faults or switches
a second a crowded machine can do is not what is tested, but that what was done is what is told."""

import csv
import json
import os
import re
import resource
import subprocess
from pathlib import Path

import pytest

SECONDS = "5"
LOW = """[analyzer:cpu]
blocking = 100
saturation = 0.01
saturation_critical = 1
[analyzer:memory]
minor_faults = 100
major_faults = 1
"""
NAMES = ["latency", "touch", "wakeup", "sharing", "crowd", "churn", "convoy", "reclaim", "fragment"]


@pytest.fixture(scope="session")
def microbench(build):
    assert (build / "microbench").exists(), "make microbench first"
    return build / "microbench"


def run(microbench, *words):
    done = subprocess.run([microbench, *map(str, words)], capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def results(text):
    return [(row["case"], float(row["value"]), row["unit"]) for row in csv.DictReader(text.splitlines())]


def findings(sonde, microbench, tmp_path, *words):
    """Those of sonde profile around it, by id, and what the kernel counted for all of that."""
    low, recording = tmp_path / "low.ini", tmp_path / "a.sonde"
    low.write_text(LOW)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = sonde("profile", "-q", "-o", recording, "--", microbench, "-s", SECONDS, *words, timeout=100)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode == 1 and re.search(r"needs (one|root)|is in memory", done.stderr):
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    told = json.loads(sonde("report", "-c", low, "--json", recording, check=True).stdout)["findings"]
    return {f["id"]: f for f in told}, {name: getattr(after, name) - getattr(before, name)
                                        for name in ("ru_minflt", "ru_majflt", "ru_nvcsw")}


def evidence(finding):
    return {item["name"]: item["value"] for item in finding["evidence"]}


@pytest.mark.parametrize("words", [["touch", "-k", "base"], ["churn", "-k", "given back", "-m", "64MiB"]], ids=lambda words: words[0])
def test_memory_that_is_touched_first(sonde, microbench, tmp_path, words):
    found, counted = findings(sonde, microbench, tmp_path, *words)
    storm = found["mem.minor_fault_storm"]
    assert "microbench" in storm["about"] and 0 < evidence(storm)["mem.faults_in_all"] <= counted["ru_minflt"]


@pytest.mark.parametrize("words", [["wakeup", "-c", "0"], ["convoy", "-c", "0", "-k", "convoy"]], ids=lambda words: words[0])
def test_tasks_that_hand_on(sonde, microbench, tmp_path, words):
    words = [str(min(os.sched_getaffinity(0))) if word == "0" else word for word in words]
    found, counted = findings(sonde, microbench, tmp_path, *words)
    blocking = found["cpu.blocking"]
    (worst,) = [name for name in evidence(blocking) if name.startswith("process ")]
    assert "microbench" in worst
    assert 0 < evidence(blocking)["cpu.blocking"] * blocking["when"]["held"] <= 1.1 * counted["ru_nvcsw"]


def test_more_tasks_than_cpus(sonde, microbench, tmp_path):
    """One another's, unless others use the machine as well."""
    found, _ = findings(sonde, microbench, tmp_path, "crowd")
    (crowded,) = [found[name] for name in ("cpu.parallelism", "cpu.saturation") if name in found]
    assert evidence(crowded)["cpu.tree_share"] > 0
    assert "cpu.process_runq_wait" in found or crowded["id"] == "cpu.parallelism"


@pytest.mark.limit(300)
def test_a_file_larger_than_the_limit(sonde, microbench, tmp_path):
    """Every page that was not in memory is a major fault of the process."""
    found, counted = findings(sonde, microbench, tmp_path, "reclaim", "-k", "limit", "-f", tmp_path)
    faults = found["mem.major_faults"]
    assert "microbench" in faults["about"] and 0 < evidence(faults)["mem.faults_in_all"] <= counted["ru_majflt"]
    assert not list(tmp_path.glob("microbench-*"))


def test_latency_by_working_set(microbench):
    status, text, _ = run(microbench, "-s", "0.01", "-m", "256KiB", "--csv", "latency")
    assert status == 0 and all(value > 0 and unit == "ns/load" for _, value, unit in results(text))
    sizes = {kind: [case.split()[-2] for case, _, _ in results(text) if case.startswith(kind)] for kind in ("base", "huge")}
    nodes = len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1
    assert sizes["base"] == sizes["huge"] == ["16", "64", "256"] * nodes


def test_one_working_set(microbench):
    node = sorted(int(path.name[4:]) for path in Path("/sys/devices/system/node").glob("node[0-9]*"))
    case = f"base node {node[0]} 64 KiB" if len(node) > 1 else "base 64 KiB"
    status, text, _ = run(microbench, "-s", "0.01", "-m", "256KiB", "--csv", "-k", case, "latency")
    assert status == 0 and [name for name, _, _ in results(text)] == [case]


def test_a_name_that_there_is_not(microbench):
    """Nothing measured is no success."""
    cases = [(["-k", "nosuch", name], f"no case of {name} begins so") for name in NAMES if name not in ("sharing", "reclaim")]
    for words, says in [(["nosuch"], 'no "nosuch"'), *cases]:
        status, text, said = run(microbench, *words)
        assert (status, text, said.count("\n")) == (2, "", 1) and says in said


def test_one_line_and_a_line_each(microbench):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU")
    status, text, _ = run(microbench, "-s", "0.05", "--csv", "sharing")
    assert status == 0 and [case for case, _, _ in results(text)] == ["together", "apart"]


def test_a_case_alone(microbench):
    cpu = min(os.sched_getaffinity(0))
    status, text, _ = run(microbench, "-s", "0.05", "--csv", "-k", f"cpu {cpu} to {cpu}", "wakeup")
    assert status == 0 and [case for case, _, _ in results(text)] == [f"cpu {cpu} to {cpu}, median", f"cpu {cpu} to {cpu}, of 100 the 99th"]
    assert all(value > 0 and unit == "ns" for _, value, unit in results(text))


def test_the_whole_memory_is_not_taken(microbench):
    """fragment leaves what a machine needs."""
    total = int(re.search(r"MemTotal: +(\d+) kB", Path("/proc/meminfo").read_text())[1])
    status, text, said = run(microbench, "-m", f"{total}KiB", "fragment")
    assert (status, text) == (1, "") and "--size is less" in said and said.count("\n") == 1


def test_what_to_expect(microbench, sonde, root):
    """Each has its summary, its help and its section of the page; findings that are named exist."""
    listed = [line.split()[0] for line in run(microbench, "--list")[1].splitlines()]
    assert listed == NAMES
    page = (root / "contrib/microbench/README.md").read_text()
    assert re.findall(r"^## (\S+)$", page, re.M) == NAMES
    named = set(re.findall(r"`((?:cpu|mem|numa|cache|hp|cgroup|delay|io)\.[a-z_]+)`", page))
    for name in NAMES:
        status, text, _ = run(microbench, "--help", name)
        assert status == 0 and text.startswith(f"{name}: ") and re.search(r"sonde( profile)?: ", " ".join(text.split()))
        named |= set(re.findall(r"\b((?:cpu|mem|numa|cache|hp|cgroup)\.[a-z_]+)", text))
    assert len(named) > 8
    for finding in named:
        assert re.search(r"^from +analyzer ", sonde("explain", finding).stdout, re.M), finding


@pytest.mark.parametrize("words", [[], ["nothing"], ["churn", "touch"], ["-s", "0", "churn"], ["-m", "12", "-m", "x", "churn"],
                                   ["-c", "1-0", "churn"], ["-j", "0", "churn"], ["--nothing", "churn"]], ids=" ".join)
def test_misuse(microbench, words):
    status, text, said = run(microbench, *words)
    assert status == 2 and text == "" and said.count("\n") == 1
