"""profile follows a tree with what it is permitted: exit records, perf's task records, the process connector, or scanning alone.
Expected values are the parent's, by wait(2) and getrusage(2)."""

import json
import os
import subprocess
import sys

import pytest

from refused import can_refuse, refuse

NO_NET_ADMIN = ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"]
SYSTEM_PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable

# How sonde is run, and what its note begins with.
RUNGS = {
    "exit records": {"known": "by exit records"},
    "perf as root": {"before": NO_NET_ADMIN, "known": "by perf task records"},
    "perf": {"user": 1000, "known": "by perf task records"},
    "connector": {"user": 1000, "refused": ["perf"], "known": "by the process connector"},
    "scanning": {"user": 1000, "refused": ["perf", "netlink"], "known": "by scanning /proc"},
}
EXACT = [rung for rung in RUNGS if rung != "scanning"]


def document(sonde, verb, path):
    return json.loads(sonde(verb, "--json", path, check=True).stdout)


def notes(sonde, path):
    rows = [json.loads(line)["values"] for line in sonde("cat", "--json", "-t", "note", path, check=True).stdout.splitlines()]
    return [row["text"] for row in rows if row["instance"] == "taskstats" and "delay accounting" not in row["text"]]


@pytest.fixture
def profile(build, sonde, open_folder):
    """profile(rung, *command) -> what it printed and the recording; skipped where this machine does not have the rung."""

    def run(rung, *command, status=0, around=(), options=()):
        how = RUNGS[rung]
        if os.getuid():
            pytest.skip("only root can lose rights")
        if "refused" in how and not can_refuse():
            pytest.skip("system calls have other numbers here")
        path = open_folder / "p.sonde"
        user = {"user": how["user"], "group": how["user"], "extra_groups": []} if "user" in how else {}
        done = subprocess.run(
            [*around, *how.get("before", []), build / "sonde", "profile", "-q", *options, "-o", path, "--", *command],
            cwd=open_folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=refuse(*how["refused"]) if "refused" in how else None, **user)
        assert done.returncode == status, done.stderr
        said = notes(sonde, path)
        if not any(how["known"] in text for text in said):
            pytest.skip(f"not {rung} here: {said}")
        return done, path

    return run


FORKS = """
import os, resource, sys, time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
for i in range(int(sys.argv[1])):
    if not os.fork():
        spin(float(sys.argv[2]))
        os._exit(3)
    os.wait()
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(each.ru_utime + each.ru_stime for each in used))
"""


@pytest.mark.limit(300)
@pytest.mark.parametrize("rung", EXACT)
def test_each_of_2000_forks_is_there(profile, sonde, rung):
    """None has a sample, and each has a parent; whose end is told with a status has it."""
    done, path = profile(rung, SYSTEM_PYTHON, "-S", "-c", FORKS, "2000", "0")
    processes = document(sonde, "tree", path)["processes"]
    root = processes[0]
    children = [each for each in processes if each["parent"] == root["id"]]
    assert (len(processes), len(children)) == (2001, 2000)
    assert all(each["ended"] for each in children)
    statuses = {each["exit_status"] for each in children}
    assert statuses == ({3} if rung in ("exit records", "connector") else {None})
    assert document(sonde, "summary", path)["cpu"] == pytest.approx(float(done.stdout), rel=0.01, abs=0.03)
    assert not sonde("cat", "--json", "-t", "gap", path).stdout


@pytest.mark.limit(600)
@pytest.mark.parametrize("rung, runs", [("exit records", 1000), ("perf as root", 1000), ("perf", 5000), ("connector", 1000),
                                        ("scanning", 1000)])
def test_cpu_time_is_what_the_parent_was_told(profile, sonde, rung, runs):
    """Of so many runs of 3 ms; what no record and no sample has stands below the parent, and is in the sum."""
    done, path = profile(rung, SYSTEM_PYTHON, "-S", "-c", FORKS, str(runs), "0.003")
    summary = document(sonde, "summary", path)
    assert summary["cpu"] == pytest.approx(float(done.stdout), rel=0.01)
    parts = sum(program["cpu"] or 0 for program in summary["programs"]) + summary["short_lived_cpu"]
    assert parts == pytest.approx(summary["cpu"])
    if rung in ("exit records", "perf as root", "perf"):
        # Three of each child's milliseconds it spun by its own clock.
        assert summary["cpu"] - summary["short_lived_cpu"] > runs * 0.0025
    else:
        assert "(short-lived, not attributed)" in sonde("summary", path).stdout


@pytest.mark.parametrize("rung", RUNGS)
def test_the_report_says_which_in_one_line(profile, sonde, rung):
    """And why not a better one."""
    _, path = profile(rung, "true")
    (line,) = notes(sonde, path)
    better = {"perf": ["CAP_NET_ADMIN"], "connector": ["CAP_NET_ADMIN", "perf_event_open is not permitted"],
              "scanning": ["netlink(7)", "perf_event_open is not permitted", "no process connector"]}
    assert all(reason in line for reason in better.get(rung, []))
    quality = " ".join(sonde("report", path).stdout.split("Data quality")[1].split())
    assert quality.count("no sample saw") == 1 and RUNGS[rung]["known"] in quality


DEEP = """
import os, sys
def descend(depth):
    if depth and not os.fork():
        descend(depth - 1)
        os._exit(depth % 100)
    if depth:
        os.wait()
descend(int(sys.argv[1]))
"""


def depth_of(each, by_id):
    depth = 0
    while each["parent"] is not None:
        each = by_id[each["parent"]]
        depth += 1
    return depth


@pytest.mark.parametrize("rung", EXACT)
def test_a_deep_tree(profile, sonde, rung):
    _, path = profile(rung, SYSTEM_PYTHON, "-S", "-c", DEEP, "60")
    processes = document(sonde, "tree", path)["processes"]
    by_id = {each["id"]: each for each in processes}
    assert sorted(depth_of(each, by_id) for each in processes) == list(range(61))


DAEMON = """
import os, sys, time
ready, tell = os.pipe()
if os.fork():
    os.read(ready, 1)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.write(tell, b"!")
os.closerange(0, 256)
time.sleep(float(sys.argv[1]))
"""

STOPPED = "(sleep 0.3; kill -CONT $$) & kill -STOP $$; wait"


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("command, most", [
    ([SYSTEM_PYTHON, "-S", "-c", DAEMON, "0.3"], 3),
    ([SYSTEM_PYTHON, "-S", "-c", "import os; os.closerange(0, 256)"], 1),
    (["sh", "-c", STOPPED], 3),
    (["true"], 1),
    (["sh", "-c", "/bin/true & /bin/true & wait"], 3),
], ids=["daemon", "closes all", "stopped", "0-length life", "two at once"])
def test_odd_commands_are_one_tree(profile, sonde, rung, command, most):
    _, path = profile(rung, *command)
    processes = document(sonde, "tree", path)["processes"]
    assert 1 <= len(processes) <= most
    if rung == "scanning":
        return  # whose parent ended before a sample is sonde's child
    assert len(processes) == most
    assert [each["parent"] for each in processes].count(None) == 1
    assert document(sonde, "summary", path)["left_out"] == 0


@pytest.mark.parametrize("rung", ["exit records", "perf as root"])
def test_a_command_in_another_pid_namespace(profile, sonde, rung):
    """Its processes have the numbers of here."""
    _, path = profile(rung, "unshare", "--fork", "--pid", "sh", "-c", "/bin/true; /bin/true; exit 0")
    processes = document(sonde, "tree", path)["processes"]
    assert len(processes) == 4 and all(each["pid"] > 2 for each in processes)
    assert len({each["pid"] for each in processes}) == 4


AGAIN = """
import os
def child():
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid
first = child()
open("/proc/sys/kernel/ns_last_pid", "w").write(str(first - 1))
assert child() == first
"""


def test_a_number_used_again_in_a_container(profile, sonde):
    """Where sonde itself is in a pid namespace, exit records are not to be had; each process is one, by whatever number."""
    _, path = profile("perf as root", SYSTEM_PYTHON, "-S", "-c", AGAIN,
                      around=["unshare", "--fork", "--pid", "--mount-proc"])
    root, first, second = document(sonde, "tree", path)["processes"]
    assert first["pid"] == second["pid"] and first["start"] < second["start"]
    assert first["parent"] == second["parent"] == root["id"]


def test_capture_needs_no_kernel(sonde, build, agent, background, tmp_path, wait_until):
    """The same rows from the bytes of then."""
    child = background("sh", "-c", "read go; exec sh -c '/bin/true; (exit 3); /bin/true; exit 4'", stdin=subprocess.PIPE)
    config, path = tmp_path / "a.ini", tmp_path / "a.sonde"
    config.write_text(f"[agent]\ninterval = 20ms\n[taskstats]\npids = {child.pid}\nstand_in = command\ncapture = raw\n"
                      f"[sink:file]\npath = {path}\nflush = 20ms\n")
    running = subprocess.Popen([*(NO_NET_ADMIN if not os.getuid() else []), build / "sonde", "agent", "-c", config])
    try:
        wait_until(lambda: path.exists() and path.stat().st_size)
        child.process.communicate(b"go\n")

        def last_end():
            return str(child.pid) in sonde("cat", "--json", "-t", "task_exit", path).stdout

        if not any("perf task records" in text for text in notes(sonde, path)):
            pytest.skip("perf events are not permitted here")
        wait_until(last_end)
    finally:
        running.terminate()
        running.wait()
    assert sonde("reparse", path, "-o", tmp_path / "b.sonde").returncode == 0
    old, new = (sonde("cat", "--json", "-t", "task_exit", tmp_path / name).stdout for name in ("a.sonde", "b.sonde"))
    assert old.count("\n") == 4 and new == old


# Each process says when its parent was about to make it, when it was there, when it was about to end, and when that was known.
TIMES = """
import json, os, sys, time
def now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)
def child(work):
    ready, tell = os.pipe()
    before = now()
    pid = os.fork()
    if not pid:
        first = now()
        work()
        os.write(tell, b"%f %f" % (first, now()))
        os._exit(0)
    os.wait()
    first, last = map(float, os.read(ready, 100).split())
    os.write(1, json.dumps([pid, os.getpid(), before, first, last, now()]).encode() + b"\\n")
for i in range(20):
    child(lambda: None)
child(lambda: time.sleep(0.25))
child(lambda: child(lambda: child(lambda: None)))
child(lambda: child(lambda: time.sleep(0.25)))
"""
TICK = 0.011  # the kernel's, with what a clock is off


@pytest.mark.parametrize("rung", RUNGS)
def test_each_lived_when_it_says_that_it_did(profile, sonde, rung):
    """By the clock that the processes read themselves; and none begins or ends outside of who made it and waits for it."""
    done, path = profile(rung, SYSTEM_PYTHON, "-S", "-c", TIMES)
    processes = document(sonde, "tree", path)["processes"]
    by_pid = {each["pid"]: each for each in processes}
    lines = [json.loads(line) for line in sonde("cat", "--json", path, check=True).stdout.splitlines()]
    begin = min(line["boottime"] for line in lines) / 1e9
    assert rung == "scanning" or len(processes) == 1 + len(done.stdout.splitlines())
    for pid, parent, before, first, last, after in map(json.loads, done.stdout.splitlines()):
        if rung == "scanning" and pid not in by_pid:
            continue
        one, maker = by_pid[pid], by_pid[parent]
        start, end = one["start"], one["start"] + one["life"]
        assert one["start_exact"] and before - TICK <= start + begin <= first + TICK
        assert one["life_exact"] == (rung != "scanning")
        if one["life_exact"]:
            assert last - TICK <= end + begin <= after + TICK
        assert maker["start"] <= start and end <= maker["start"] + maker["life"] + 1e-6
    assert ("~" in sonde("tree", path).stdout) == (rung == "scanning")
