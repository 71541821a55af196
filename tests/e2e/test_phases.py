"""Stretches in which nothing ran in parallel, against when two loops ran by what they say of themselves: on one CPU that others
want as well, where CPU time tells nothing of it."""

import json
import os
import sys

import pytest

from live import document

SPIN = "while True: pass"

# make -j1, make -j2: each loop says when it began and ended, CLOCK_BOOTTIME.
LOOPS = """
import os, sys, time
def loop():
    begin, used = time.clock_gettime(time.CLOCK_BOOTTIME), time.process_time() + 0.5
    while time.process_time() < used:
        pass
    os.write(1, b"%f %f\\n" % (begin, time.clock_gettime(time.CLOCK_BOOTTIME)))
    os._exit(0)
for i in range(2):
    if not os.fork():
        loop()
    if sys.argv[1] == "1":
        os.wait()
if sys.argv[1] == "2":
    os.wait(), os.wait()
"""


def begin_of(sonde, path):
    """Seconds of CLOCK_BOOTTIME at which the recording's time is 0."""
    lines = sonde("cat", "--json", path, check=True).stdout.splitlines()
    return min(json.loads(line)["boottime"] for line in lines) / 1e9


def common(a, b):
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


@pytest.fixture
def busy(background):
    """One CPU, for all that is run from here on, that is never free."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield [background(sys.executable, "-S", "-c", SPIN) for _ in range(2)]
    os.sched_setaffinity(0, before)


def run(profile, sonde, jobs):
    """When the loops ran, and when nothing ran in parallel, in one clock."""
    done, path = profile(sys.executable, "-S", "-c", LOOPS, jobs)
    assert done.returncode == 0, done.stderr
    begin = begin_of(sonde, path)
    loops = [[float(word) - begin for word in line.split()] for line in done.stdout.splitlines()]
    return loops, document(sonde, "summary", path)["alone"], sonde("summary", path).stdout


def test_one_after_the_other_is_not_parallel(busy, profile, sonde):
    loops, alone, text = run(profile, sonde, "1")
    assert common(*loops) == 0
    for loop in loops:
        assert sum(common(loop, (each["begin"], each["end"])) for each in alone) > (loop[1] - loop[0]) / 2
    assert {each["program"] for each in alone} == {os.path.basename(sys.executable)[:15]}
    assert "Nothing ran in parallel" in text


def test_two_at_once_are(busy, profile, sonde):
    """Both together have less than one CPU."""
    loops, alone, _ = run(profile, sonde, "2")
    both = max(loop[0] for loop in loops), min(loop[1] for loop in loops)
    assert both[1] - both[0] > 0.5
    assert sum(common(both, (each["begin"], each["end"])) for each in alone) < (both[1] - both[0]) / 5


def test_of_a_machine_where_many_are_runnable(busy, sonde, open_folder):
    path = open_folder / "r.sonde"
    done = sonde("record", "-q", "-i", "100ms", "-d", "1", "-o", path)
    assert done.returncode == 0, done.stderr
    assert len([each for each in document(sonde, "tree", path)["processes"] if each["pid"] in {one.pid for one in busy}]) == 2
    assert document(sonde, "summary", path)["alone"] == []


def test_what_is_too_short_to_be_told_is_not(profile, sonde):
    _, path = profile(sys.executable, "-S", "-c", "import time\nwhile time.process_time() < 0.03: pass", options=["-i", "10ms"])
    assert all(each["end"] - each["begin"] >= 0.1 and each["program"] for each in document(sonde, "summary", path)["alone"])
    assert "for 0.0 s" not in sonde("summary", path).stdout
