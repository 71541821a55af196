"""profile beside others: who used the CPUs without descending from the command, and --also, --scope that include them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TICK = os.sysconf("SC_CLK_TCK")
SPIN = "import time\nprint('ready', flush=True)\nwhile True:\n    pass\n"


def document(sonde, verb, path):
    return json.loads(sonde(verb, "--json", path, check=True).stdout)


def rows(sonde, path, table):
    found = [json.loads(line) for line in sonde("cat", "--json", "-t", table, path, check=True).stdout.splitlines()]
    return [dict(row["values"], **row["keys"]) for row in found]


@pytest.fixture
def spinner(background, wait_until, tmp_path):
    """spinner(): a process that uses a CPU, a script whose name is that of a build daemon."""

    def start():
        script = tmp_path / "org.gradle.GradleDaemon"
        script.write_text(SPIN)
        running = background(sys.executable, "-S", script)
        wait_until(lambda: "ready" in running.stdout)
        return running

    return start


# Until the spinner has used a while more; what it had used before and after.
WATCH = """
import os, sys
def used():
    words = open(f"/proc/{sys.argv[1]}/stat").read().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])
before = used()
while used() < before + 30:
    os.sched_yield()
print(used() - before)
"""


def test_the_busiest_outsider_is_named(sonde, spinner, tmp_path):
    """Its CPU time is at least what the command saw it use, and at most what it has used in all; the build daemon is known."""
    path = tmp_path / "p.sonde"
    one = spinner()
    done = sonde("profile", "-q", "-o", path, "--", sys.executable, "-S", "-c", WATCH, one.pid, check=True)
    words = Path(f"/proc/{one.pid}/stat").read_text().rsplit(")", 1)[1].split()
    told = [row for row in rows(sonde, path, "outsider") if row["pid"] == one.pid]
    assert int(done.stdout) <= told[-1]["cpu"] <= int(words[11]) + int(words[12])
    assert told[-1]["program"] == "org.gradle.GradleDaemon"
    summary = document(sonde, "summary", path)
    assert summary["outside_cpu"] > 0.1
    assert [each["cpu"] for each in summary["outsiders"]]
    text = sonde("summary", path, check=True).stdout
    assert "Outside of the tree:" in text and "--also" in text
    for each in summary["outsiders"]:
        assert f"[{each['pid']}]" in text
        assert (each["service"] == "Gradle daemon") == (each["pid"] == one.pid)


def test_a_tree_that_does_all_names_nobody(sonde, tmp_path):
    """Nine tenths of the machine's time are the test's business only where nobody else runs; what is said agrees with what is
    counted."""
    path = tmp_path / "p.sonde"
    sonde("profile", "-q", "-o", path, "--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", check=True)
    summary = document(sonde, "summary", path)
    outside = summary["outside_cpu"] / (summary["outside_cpu"] + summary["cpu"])
    assert bool(summary["outsiders"]) <= (outside > 0.09)
    assert ("Outside of the tree" in sonde("summary", path).stdout) <= (outside > 0.09)


@pytest.mark.parametrize("how", ["pid", "name"])
def test_also_is_followed_like_the_tree(sonde, background, wait_until, tmp_path, how):
    """With its descendants; it is no outsider then, and the command is still what set the time."""
    path = tmp_path / "p.sonde"
    server = tmp_path / "testserver"
    server.symlink_to("/bin/sh")
    running = background(server, "-c", "echo ready; while :; do sleep 0.05; done")
    wait_until(lambda: "ready" in running.stdout)
    what = running.pid if how == "pid" else "testserv*"
    sonde("profile", "-q", "-i", "20ms", "--also", what, "-o", path, "--", "sleep", "0.5", check=True)
    processes = document(sonde, "tree", path)["processes"]
    one = next(each for each in processes if each["pid"] == running.pid)
    assert one["name"] == "testserver" and one["parent"] is None and one["start"] < 0 and not one["critical"]
    assert any(each["parent"] == one["id"] and each["name"] in ("sleep", "testserver") for each in processes)
    command = next(each for each in processes if each["command"] == "sleep 0.5")
    assert command["critical"] and command["parent"] is None
    assert running.pid not in [each["pid"] for each in document(sonde, "summary", path)["outsiders"]]


def test_a_name_that_nobody_has_is_told(sonde, tmp_path):
    own = Path("/proc/self/comm").read_text().strip()
    done = sonde("profile", "--also", "nobody-has-it", "--also", own, "-o", tmp_path / "p.sonde", "--", "true", check=True)
    said = " ".join(done.stderr.split())
    assert "no process is named nobody-has-it" in said and f"no process is named {own}" not in said


@pytest.mark.parametrize("what, says", [("0", "--also 0"), ("99999999", "No such process"), ("", "a pid, a name or a control group")])
def test_a_wrong_choice_runs_nothing(sonde, tmp_path, what, says):
    done = sonde("profile", "--also", what, "--", "touch", "ran", cwd=tmp_path)
    assert done.returncode == 125 and says in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_scope(sonde, tmp_path):
    """Where systemd runs the command is in a scope; elsewhere one line says why not, and it runs all the same."""
    path = tmp_path / "p.sonde"
    done = sonde("profile", "-q", "--scope", "-o", path, "--", "sh", "-c", "cat /proc/self/cgroup; exit 5")
    if Path("/run/systemd/system").exists() and done.stdout == "":
        pytest.skip(f"no scope may be made here: {done.stderr}")
    assert done.returncode == 5
    if "sonde-" in done.stdout:
        assert ".scope" in done.stdout and done.stderr == ""
    else:
        assert done.stderr.startswith("sonde profile: no scope, the command runs without: ") and done.stderr.count("\n") == 1
    assert document(sonde, "tree", path)["processes"]
