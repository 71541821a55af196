"""The main job on this machine's kernel: a workload in one half of ten seconds is found, named and timed; an idle machine raises
no alarm. Expected values are what the workload's own script read from /proc (tests/run/workload.sh)."""

import json
import re
import subprocess
import time
from pathlib import Path

import pytest

SLICE = 1.0  # s, of the analysis
CALM = 0.05  # share of time with a task waiting for a CPU above which this machine has other things to do


@pytest.fixture(autouse=True)
def plain_build(build):
    if "-fsanitize" in (build / "flags").read_text():
        pytest.skip("times and rates are those of the plain build")


def psi_us():
    return int(Path("/proc/pressure/cpu").read_text().split("total=")[1].split()[0])


def read_workload(path):
    """{"start": {"uptime": ..}, "begin": .., "end": ..} and the processes."""
    marks, processes = {}, []
    for line in path.read_text().splitlines():
        name, *pairs = line.split()
        values = dict(pair.split("=") for pair in pairs)
        if name == "process":
            processes.append(values)
        else:
            marks[name] = {key: float(value) for key, value in values.items()}
    return marks, processes


def rate(marks, first, last, key):
    return (marks[last][key] - marks[first][key]) / (marks[last]["uptime"] - marks[first]["uptime"])


def read_findings(report):
    """Blocks of the text report: severity, id, about, begin and end in s from the start, the whole text."""
    found = []
    for block in re.split(r"\n\n", report):
        head = re.match(r"(critical|warning|info) ", block)
        what = re.search(r"^ +([a-z]+\.[a-z_]+), about (.*)$", block, re.M)
        when = re.search(r"^when +\+([\d.]+) s to \+([\d.]+) s", block, re.M)
        if head and what and when:
            found.append({"severity": head.group(1), "id": what.group(1), "about": what.group(2),
                          "begin": float(when.group(1)), "end": float(when.group(2)), "text": block})
    return found


def percent(text, name):
    return float(re.search(rf"\b{re.escape(name)} +([\d.]+) %", text).group(1)) / 100


@pytest.fixture(scope="module")
def main_job(root, build):
    """Runs it once: the report, what the script read, and when the recording began by the clock of /proc/uptime."""
    subprocess.run([root / "tests/run/main-job", build], check=True, timeout=60, stdout=subprocess.DEVNULL)
    rows = subprocess.run([build / "sonde", "cat", "--json", "-t", "loadavg", build / "run.sonde"], check=True, timeout=60,
                          capture_output=True, text=True).stdout
    began = json.loads(rows.splitlines()[0])["boottime"] / 1e9
    marks, processes = read_workload(build / "run.workload")
    return (build / "run.report").read_text(), marks, processes, began


def of(findings, finding_id):
    found = [finding for finding in findings if finding["id"] == finding_id]
    assert found, f"{finding_id} was not found"
    return found


def skip_where_busy(marks):
    if rate(marks, "start", "begin", "psi_cpu_some") / 1e6 > CALM:
        pytest.skip("this machine had other work before the workload")


def test_saturation_is_found_and_timed(main_job):
    report, marks, _, began = main_job
    saturation = of(read_findings(report), "cpu.saturation")[0]
    assert saturation["severity"] == "critical"  # three spinners a CPU: someone waits nearly all the time
    skip_where_busy(marks)
    assert percent(saturation["text"], "cpu.pressure") == pytest.approx(rate(marks, "begin", "end", "psi_cpu_some") / 1e6, rel=0.05)
    assert saturation["begin"] == pytest.approx(marks["begin"]["uptime"] - began, abs=SLICE)
    assert saturation["end"] == pytest.approx(marks["end"]["uptime"] - began, abs=SLICE)


def test_each_spinner_is_named_with_its_wait(main_job):
    report, marks, processes, began = main_job
    waits = of(read_findings(report), "cpu.process_runq_wait")
    skip_where_busy(marks)
    text = "\n".join(finding["text"] for finding in waits)
    spinners = [process for process in processes if process["name"] == "spinner"]
    assert len(spinners) >= 3
    for process in spinners:
        run, wait = int(process["run"]), int(process["wait"])
        assert percent(text, f"process {process['pid']} (spinner)") == pytest.approx(wait / (wait + run), rel=0.05)
    about = next(finding for finding in waits if "spinner" in finding["about"])
    assert about["begin"] == pytest.approx(marks["begin"]["uptime"] - began, abs=SLICE)
    assert about["end"] == pytest.approx(marks["end"]["uptime"] - began, abs=SLICE)


def test_faults_are_those_of_the_kernel(main_job, sonde, build):
    """Samples before and behind the script's own readings of /proc/vmstat have these between them, however busy the machine is."""
    _, marks, _, _ = main_job
    rows = [json.loads(line) for line in sonde("cat", "--json", "-t", "vmstat.pgfault", build / "run.sonde").stdout.splitlines()]
    samples = [(row["boottime"] / 1e9, row["values"]["pgfault"]) for row in rows]
    for mark in marks["begin"], marks["end"]:
        # /proc/uptime has hundredths of a second.
        before = [faults for time, faults in samples if time < mark["uptime"] - 0.1]
        behind = [faults for time, faults in samples if time > mark["uptime"] + 0.1]
        assert before[-1] <= mark["pgfault"] and all(mark["pgfault"] <= faults for faults in behind)
    assert len(samples) > 50


def test_the_fault_rate_is_the_kernels(main_job):
    report, marks, _, _ = main_job
    skip_where_busy(marks)
    expected = rate(marks, "start", "end", "pgfault")
    if rate(marks, "start", "begin", "pgfault") > expected / 20:
        pytest.skip("others faulted memory in before the workload: so may they before its script began, and behind its end")
    shown = float(re.search(r"^.* mem\.faults +([\d.]+) faults/s", report, re.M).group(1))
    assert shown == pytest.approx(expected, rel=0.05)


def test_nothing_is_said_about_the_other_half(main_job):
    report, marks, _, began = main_job
    skip_where_busy(marks)
    early = [finding for finding in read_findings(report)
             if finding["severity"] != "info" and finding["begin"] < marks["begin"]["uptime"] - began - SLICE]
    assert not early


def test_an_idle_machine_raises_no_warning(sonde, tmp_path):
    path = tmp_path / "idle.sonde"
    before, begin = psi_us(), time.monotonic()
    assert sonde("record", "-q", "-d", "5", "-i", "100ms", "-o", path).returncode == 0
    share = (psi_us() - before) / 1e6 / (time.monotonic() - begin)
    if share > CALM:
        pytest.skip(f"this machine is not idle: tasks waited for a CPU {share:.0%} of the time")
    report = sonde("report", path)
    assert report.returncode == 0
    assert [finding for finding in read_findings(report.stdout) if finding["severity"] != "info"] == []
    assert re.match(r"\d+ found\b", report.stdout)
