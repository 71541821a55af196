"""sonde report --perf-stat: counters that perf stat printed beside a recording are in its report, at their time. The recording is of vmstat's
rows, whose times are known; what the counters come to is done by hand."""

import json

import pytest
from importing import imported  # noqa: F401

ROW = "   1    0            0      1000000        20000       300000    0    0     8    16  100  200  10   5  80   3   2   0 2026-11-30 {}\n"
HEADER = "   r    b         swpd         free         buff        cache   si   so    bi    bo   in   cs  us  sy  id  wa  st  gu   {}\n"
# 60 s
CLOCK = [f"12:{minute:02}:{second:02}" for minute in (0,) for second in range(60)] + ["12:01:00"]


@pytest.fixture
def report(sonde, imported, tmp_path):
    """report(text, zone=, *options) -> the document; what is said of perf_event in .notes."""

    def run(text, *options, zone="UTC", status=0):
        imported("vmstat", HEADER.format(zone) + "".join(ROW.format(time) for time in CLOCK))
        (tmp_path / "counts.csv").write_text(text)
        done = sonde("report", "--json", "--perf-stat", tmp_path / "counts.csv", *options, imported.path)
        assert done.returncode == status, done.stderr
        if status:
            return done.stderr
        document = json.loads(done.stdout)
        run.notes = [note["text"] for note in document["data_quality"]["notes"] if note["instance"] == "perf_event"]
        return document

    return run


def value(document, name):
    (found,) = [metric["value"] for metric in document["metrics"] if metric["name"] == name]
    return found


def points(document, name):
    """{second: value} of its course."""
    (series,) = [one for one in document["series"] if one["metric"] == name]
    return dict(zip(series["time"], series["value"]))


def intervals(ratios, begin=0):
    """Of a second each: so many instructions a cycle."""
    return "".join(f"{begin + i + 1}.000000000;{10**9};;cycles;{10**9};100.00;;\n"
                   f"{begin + i + 1}.000000000;{int(ratio * 10**9)};;instructions;{10**9};100.00;;\n" for i, ratio in enumerate(ratios))


def test_intervals_begin_with_the_recording(report):
    document = report(intervals([1] * 10 + [3] * 10))
    assert value(document, "cache.ipc") == pytest.approx(2)
    course = points(document, "cache.ipc")
    assert course == {n + 0.5: pytest.approx(1 if n < 10 else 3) for n in range(20)}
    assert report.notes == ["counters of perf stat, which did not say when it began: taken to have begun with the recording"]
    # The window and its instants are the recording's.
    assert (document["window"]["seconds"], document["window"]["instants"]) == (60, 61)


@pytest.mark.parametrize("zone", ["UTC", "-03"])
def test_intervals_at_the_time_that_is_said(report, zone):
    """perf stat prints the local time of the host, and so does vmstat: 12:00:40 there is 40 s from its start."""
    text = "# started on Mon Nov 30 12:00:40 2026\n\n" + intervals([1] * 5 + [3] * 35)
    document = report(text, zone=zone)
    assert points(document, "cache.ipc") == {n + 0.5: pytest.approx(1 if n < 45 else 3) for n in range(40, 60)}
    assert report.notes == ["counters of perf stat, put where it says that it began, to the second",
                            "20 intervals of perf stat lie outside the recording: left out"]


def test_a_run_without_times(report):
    document = report("6000000000;;cycles;1000;100.00;;\n9000000000;;instructions;1000;100.00;;\n")
    assert value(document, "cache.ipc") == pytest.approx(1.5)
    assert report.notes == ["counters of perf stat, which said no times: taken as of the whole recording"]


def test_a_run_at_its_time(report):
    text = ("# started on Mon Nov 30 12:00:10 2026\n\n 6,000,000,000      cycles\n 3,000,000,000      instructions\n"
            "\n      20.000000000 seconds time elapsed\n")
    document = report(text)
    assert value(document, "cache.ipc") == pytest.approx(0.5)
    assert set(points(document, "cache.ipc")) == {20.0}  # the middle of 10 s to 30 s


def test_a_finding_of_both(report):
    """Counters of the run with the recording: 0.5 instructions a cycle, 20 misses per 1,000 of them."""
    lines = "".join(f"{value};;{name};1000;100.00;;\n" for name, value in {
        "cycles": 60 * 10**9, "instructions": 30 * 10**9, "LLC-loads": 10**9, "LLC-load-misses": 600 * 10**6}.items())
    document = report(lines)
    assert [finding["id"] for finding in document["findings"]] == ["cache.memory_bound"]
    assert value(document, "cpu.switches") == pytest.approx(200)


def test_since(report):
    """A stretch of the recording has the counters of that stretch."""
    document = report(intervals([1] * 30 + [3] * 30), "--since", "40s")
    assert value(document, "cache.ipc") == pytest.approx(1)  # begins with what is reported: without a date nobody knows better
    document = report("# started on Mon Nov 30 12:00:00 2026\n" + intervals([1] * 30 + [3] * 30), "--since", "40s")
    assert value(document, "cache.ipc") == pytest.approx(3)


@pytest.mark.parametrize("text", [
    "# started on Mon Nov 30 13:00:00 2026\n" + intervals([1] * 5),
    "# started on Mon Nov 30 11:00:00 2026\n" + intervals([1] * 5),
    "# started on Mon Nov 30 13:00:00 2026\n6000;;cycles;1000;100.00;;\n",
    "# started on Mon Nov 30 11:00:00 2026\n6000;;cycles;1000;100.00;;\n",
])
def test_another_time(report, text):
    error = report(text, status=1)
    assert "perf stat ran at another time" in error and error.count("\n") == 1


def test_what_is_none(report, sonde, tmp_path):
    assert "no line of it is one of perf stat's" in report("hello\n", status=1)
    demo = tmp_path / "demo.sonde"
    sonde("demo", "healthy", "-o", tmp_path / "raw.sonde", check=True)
    sonde("reparse", tmp_path / "raw.sonde", "-o", demo, check=True)
    (tmp_path / "counts.csv").write_text(intervals([1]))
    done = sonde("report", "--perf-stat", tmp_path / "counts.csv", demo)
    assert done.returncode == 1 and "has counters of its own" in done.stderr
    assert sonde("report", "--perf-stat", "x", demo, demo).returncode == 2
