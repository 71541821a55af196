"""summary and tree: processes as they lived, against what the kernel tells their parent by wait(2) and getrusage(2)."""

import json
import os
import subprocess
import sys

import pytest

from live import document

USERS = pytest.mark.parametrize("user", [None, 1000], ids=["root", "uid 1000"])


SHORT = """
import os, resource, sys, time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
for i in range(int(sys.argv[1])):
    if not os.fork():
        spin(0.003)
        os._exit(3)
    os.wait()
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(each.ru_utime + each.ru_stime for each in used))
"""


@USERS
def test_the_trees_time_is_what_its_parent_was_told(profile, sonde, user):
    done, path = profile(sys.executable, "-S", "-c", SHORT, "1000", user=user)
    assert done.returncode == 0, done.stderr
    summary = document(sonde, "summary", path)
    assert summary["cpu"] == pytest.approx(float(done.stdout), rel=0.01)
    parts = sum(program["cpu"] for program in summary["programs"]) + summary["short_lived_cpu"]
    assert parts == pytest.approx(summary["cpu"])


def has_exit_records(sonde, path):
    return '"exitcode"' in sonde("cat", "--json", "-t", "task_exit", path).stdout


def test_with_exit_records_none_is_too_short(profile, sonde):
    done, path = profile(sys.executable, "-S", "-c", SHORT, "300")
    if not has_exit_records(sonde, path):
        pytest.skip("the kernel tells of no ends here: taskstats wants CAP_NET_ADMIN and CONFIG_TASKSTATS")
    children = [each for each in document(sonde, "tree", path)["processes"] if each["exit_status"] == 3]
    assert len(children) == 300
    assert all(each["peak_rss"] > 0 and each["ended"] for each in children)


SHAPE = """
sleep 0.25 &
sh -c 'sleep 0.7; exit 5' &
wait
sleep 0.4
exit 4
"""


@USERS
def test_who_descends_from_whom_and_what_set_the_time(profile, sonde, user):
    """Of two that run at once the longer one counts; what is after them counts as well."""
    done, path = profile("sh", "-c", SHAPE, user=user)
    assert done.returncode == 4
    processes = document(sonde, "tree", path)["processes"]
    by_id = {each["id"]: each for each in processes}
    root = processes[0]
    assert root["parent"] is None and root["name"] == "sh" and root["life"] > 1
    named = {each["command"]: each for each in processes if each["command"] and each["command"].startswith("sleep")}
    assert by_id[named["sleep 0.25"]["parent"]] is root
    assert by_id[named["sleep 0.4"]["parent"]] is root
    middle = by_id[named["sleep 0.7"]["parent"]]
    assert by_id[middle["parent"]] is root
    critical = {each["command"] for each in processes if each["critical"]}
    assert {"sleep 0.7", "sleep 0.4"} <= critical and "sleep 0.25" not in critical
    if has_exit_records(sonde, path):
        assert root["exit_status"] == 4 and middle["exit_status"] == 5


def test_the_text_of_the_tree(profile, sonde):
    done, path = profile("sh", "-c", "sleep 0.3; : $'\\033[31m'; kill -9 $$")
    assert done.returncode == 137
    text = sonde("tree", path).stdout
    head, root, child = text.splitlines()[:3]
    assert head.split()[:3] == ["start", "life", "CPU"]
    assert root.startswith("*") and "\\x1b[31m" not in text and "\033" not in text
    assert child.index("sleep 0.3") > root.index("sh -c")
    assert text.count("sleep 0.3  [") == 1


DAEMON = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
for fd in range(64):
    try:
        os.close(fd)
    except OSError:
        pass
time.sleep(float(sys.argv[1]))
"""


@USERS
def test_a_daemon_stays_in_the_tree(profile, sonde, user):
    """It forks twice, closes everything, and lives on when the command has ended; or ends before."""
    script = f"{sys.executable} -S -c '{DAEMON}' 30; {sys.executable} -S -c '{DAEMON}' 0.2; sleep 0.6"
    done, path = profile("sh", "-c", script, user=user)
    assert done.returncode == 0, done.stderr
    processes = document(sonde, "tree", path)["processes"]
    alive = [each for each in processes if not each["ended"]]
    assert [each["name"].startswith("python") for each in alive] == [True]
    os.kill(alive[0]["pid"], 9)
    assert document(sonde, "summary", path)["left_out"] == 0


@pytest.mark.parametrize("command", [
    ["sh", "-c", "kill -STOP $$ & sleep 0.2; exit 0"],
    ["sh", "-c", "exec sleep 0.3"],
    [sys.executable, "-S", "-c", "import os; os.closerange(0, 256)"],
    [sys.executable, "-S", "-c",
     "open('/proc/self/comm', 'w').write('a) S 1 (b'); import time; time.sleep(0.3)"],
    ["unshare", "--fork", "--pid", "sh", "-c", "sleep 0.2; exit 0"],
    ["true"],
], ids=["", "another program", "closes all", "another name", "another pid namespace", "0-length life"])
def test_odd_commands_are_one_tree(profile, sonde, command):
    if command[0] == "unshare" and subprocess.run([*command[:3], "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("no pid namespace may be made here")
    if "STOP" in command[-1]:
        command = ["sh", "-c", "(sleep 0.3; kill -CONT $$) & kill -STOP $$; wait"]
    done, path = profile(*command)
    assert done.returncode == 0, done.stderr
    roots = [each for each in document(sonde, "tree", path)["processes"] if each["parent"] is None]
    assert len(roots) == 1
    if "comm" in command[-1]:
        assert roots[0]["name"] == "a) S 1 (b"


def test_set_user_id_programs_are_what_they_are(profile, sonde, tmp_path):
    """Nothing traces the command, so it may become root as it may without sonde; what /proc then hides is not known, not 0."""
    if os.getuid():
        pytest.skip("only root can make such a program")
    program = tmp_path / "becomes"
    source = tmp_path / "becomes.c"
    source.write_text('#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("%d", (int)geteuid()); fflush(stdout); '
                      'usleep(300000); return 0; }\n')
    subprocess.run(["cc", "-o", program, source], check=True)
    program.chmod(0o4755)
    alone = subprocess.run([program], user=1000, stdout=subprocess.PIPE, check=True).stdout
    if alone != b"0":
        pytest.skip("such programs become nobody here (nosuid)")
    done, path = profile(program, user=1000)
    assert done.returncode == 0 and done.stdout == "0"
    (life,) = document(sonde, "tree", path)["processes"]
    assert life["name"] == "becomes" and life["life"] > 0.2


def test_a_recording_without_processes(sonde, tmp_path):
    path = tmp_path / "r.sonde"
    config = tmp_path / "c.ini"
    config.write_text(f"[agent]\ninterval = 10ms\n[loadavg]\n[sink:file]\npath = {path}\n")
    assert sonde("agent", "-c", config, "-d", "100ms").returncode == 0
    assert document(sonde, "tree", path)["processes"] == []
    summary = document(sonde, "summary", path)
    assert summary["peak_rss_at_once"] is None and summary["cpu"] is None and summary["processes"] == 0
    for verb in "summary", "tree":
        assert sonde(verb, path, check=True).stdout.startswith("No processes are in the recording")


@pytest.mark.parametrize("verb", ["summary", "tree"])
def test_the_verbs_calls(sonde, tmp_path, verb):
    assert sonde(verb).returncode == 2
    assert sonde(verb, "--jsn", "x").returncode == 2
    missing = sonde(verb, tmp_path / "missing")
    assert missing.returncode == 1 and "missing" in missing.stderr
    assert "example" in sonde(verb, "--help").stdout


def test_same_input_same_bytes(profile, sonde):
    _, path = profile("sh", "-c", SHAPE)
    for verb in ("summary", "tree"):
        assert sonde(verb, path).stdout == sonde(verb, path).stdout


@pytest.mark.parametrize("options, names", [
    ([], ["sh"]),
    (["--children"], ["sh", "sleep", "sh", "sleep"]),
], ids=["alone", "children"])
def test_a_running_process_and_its_descendants(sonde, agent, background, wait_until, tmp_path, options, names):
    """A stranger beside it, a child of the same parent, is no part of either."""
    path, go = tmp_path / "r.sonde", tmp_path / "go"
    os.mkfifo(go)
    # It waits to be read before it goes on, however long a recorder takes to begin.
    shell = background("sh", "-c", f"read word <{go}; sleep 0.8; sh -c 'sleep 0.7; true'; true")
    background("sleep", "60")
    running = agent("record", "-q", "-i", "50ms", "-p", shell.pid, *options, "-o", path)
    wait_until(lambda: sonde("cat", "--json", "-t", "process", path).stdout, timeout=30)
    go.write_text("go\n")
    assert running.wait(30) == 0, running.stderr
    assert [each["name"] for each in document(sonde, "tree", path)["processes"] if each["name"] != "true"] == names


def test_a_control_group(sonde, tmp_path):
    """The one that this test is in: who is in it by /proc/PID/cgroup has a row."""
    groups = dict(line.split(":")[1:] for line in open("/proc/self/cgroup", encoding="utf-8").read().splitlines())
    group = groups[""] if groups.get("", "/") != "/" else groups.get("name=systemd", "/")
    path = tmp_path / "r.sonde"
    done = sonde("record", "-q", "-i", "50ms", "--max-frames", "3", "--cgroup", group, "-o", path)
    assert done.returncode == 0, done.stderr
    assert os.getpid() in [each["pid"] for each in document(sonde, "tree", path)["processes"]] or group == "/"


@pytest.mark.parametrize("words, says", [
    (["--children"], "--pid"),
    (["--cgroup", "a.slice"], "a path from /"),
    (["--cgroup", "/a", "--", "true"], "one of them"),
    (["--cgroup", "/a", "-p", "1"], "one of them"),
])
def test_choices_that_exclude_each_other(sonde, words, says):
    done = sonde("record", *words)
    assert done.returncode == 2 and says in done.stderr


def cpu_of(pid):
    """utime and stime, seconds: proc_pid_stat(5)."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_what_a_process_used_before_the_recording_is_not_of_it(sonde, open_folder):
    path = open_folder / "p.sonde"
    with subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) as spinner:
        try:
            while cpu_of(spinner.pid) < 1:
                os.sched_yield()
            before = cpu_of(spinner.pid)
            done = sonde("record", "-q", "-i", "100ms", "-d", "1", "-p", str(spinner.pid), "-o", path)
            most = cpu_of(spinner.pid) - before
        finally:
            spinner.kill()
    assert done.returncode == 0, done.stderr
    summary = document(sonde, "summary", path)
    assert 0 < summary["cpu"] <= most
    assert summary["cpus_busy"] <= 1.1
    (life,) = document(sonde, "tree", path)["processes"]
    assert life["start"] < 0 and life["cpu"] == summary["cpu"]


SHORT_ONES = """
import json, os, sys, time
def now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)
sys.stdin.readline()
for i in range(10):
    ready, tell = os.pipe()
    before = now()
    pid = os.fork()
    if not pid:
        first = now()
        time.sleep(0.03)
        os.write(tell, b"%f %f" % (first, now()))
        os._exit(0)
    os.wait()
    first, last = map(float, os.read(ready, 100).split())
    os.write(1, json.dumps([pid, before, first, last, now()]).encode() + b"\\n")
"""


def test_a_start_that_nobody_told_is_marked(sonde, agent, background, tmp_path, wait_until):
    """Exit records alone come with the next sample, 1 s later, and say how long it was; they are put into their parent's life."""
    path, config = tmp_path / "r.sonde", tmp_path / "a.ini"
    parent = background(sys.executable, "-S", "-c", SHORT_ONES, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    config.write_text(f"[agent]\ninterval = 1s\n[process]\nsubtree = {parent.pid}\n[taskstats]\noptional = yes\n"
                      f"pids = {parent.pid}\n[sink:file]\npath = {path}\nflush = 20ms\n")
    run = agent("agent", "-c", config)
    wait_until(lambda: path.exists() and '"process"' in sonde("cat", "--json", path).stdout)
    said, _ = parent.process.communicate(b"go\n")
    wait_until(lambda: f'"pid":{parent.pid}' in sonde("cat", "--json", "-t", "task_exit", path).stdout
               or "CAP_NET_ADMIN" in sonde("cat", "--json", "-t", "note", path).stdout)
    run.process.terminate()
    run.wait()
    if not has_exit_records(sonde, path):
        pytest.skip("the kernel tells of no ends here")
    by_pid = {each["pid"]: each for each in document(sonde, "tree", path)["processes"]}
    maker = by_pid[parent.pid]
    assert maker["start_exact"] and maker["life_exact"]
    for line in said.splitlines():
        pid, before, first, last, after = json.loads(line)
        one = by_pid[pid]
        if not one["start_exact"]: # a sample may have met it
            assert one["life_exact"] and last - first <= one["life"] <= after - before
        assert maker["start"] <= one["start"]
        assert one["start"] + one["life"] <= maker["start"] + maker["life"] + 1e-6
    inexact = [each for each in by_pid.values() if not each["start_exact"]]
    assert inexact and sonde("tree", path).stdout.count("~") == len(inexact)
