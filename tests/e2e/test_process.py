"""The collector process: the real program on captured machines and on this one, beside what Python reads of the same files."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import pytest

# Fields of /proc/PID/stat behind the name, in the order of proc(5), from field 3 on.
STAT = (
    "state ppid pgrp session tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime priority nice "
    "num_threads itrealvalue start_time vsize rss rsslim startcode endcode startstack kstkesp kstkeip signal blocked "
    "sigignore sigcatch wchan nswap cnswap exit_signal processor rt_priority policy delayacct_blkio_ticks guest_time "
    "cguest_time"
).split()
NOT_COLUMNS = set(
    "tty_nr tpgid flags itrealvalue rsslim startcode endcode startstack kstkesp kstkeip signal blocked sigignore sigcatch "
    "wchan nswap cnswap exit_signal".split()
)
STATUS = {
    "Uid": "uid", "VmPeak": "vm_peak", "VmLck": "vm_lck", "VmPin": "vm_pin", "VmHWM": "vm_hwm", "VmRSS": "vm_rss",
    "RssAnon": "rss_anon", "RssFile": "rss_file", "RssShmem": "rss_shmem", "VmData": "vm_data", "VmStk": "vm_stk",
    "VmPTE": "vm_pte", "VmSwap": "vm_swap", "HugetlbPages": "hugetlb_pages",
    "voluntary_ctxt_switches": "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches": "nonvoluntary_ctxt_switches",
}
PF_KTHREAD = 0x200000
SYSTEM = Path("/")


def run_agent(sonde, folder, options="", root="", frames=1, interval="20ms", **how):
    """Rows of all tables that an agent with this collector alone writes to stdout as JSON lines."""
    config = folder / "process.ini"
    config.write_text(
        f"[agent]\ninterval = {interval}\n{f'root = {root}' if root else ''}\n[process]\n{options}\n"
        "[sink:stdout]\nformat = json\n"
    )
    done = sonde("agent", "-c", config, "--max-frames", frames, **how)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def processes(rows):
    """Newest row of each process by pid."""
    return {row["keys"]["pid"]: row for row in rows if row["table"] == "process"}


def notes(rows):
    return [row["values"]["text"] for row in rows if row["table"] == "note"]


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def as_json(raw):
    """Each byte that is no UTF-8 becomes U+FFFD."""
    return re.sub("[\udc80-\udcff]", "\ufffd", raw.decode("utf-8", "surrogateescape"))


def cgroup_path(text):
    """The unified hierarchy's; where that says nothing, of v1 systemd's, cpu's, memory's, whichever does."""
    lines = [line.split(b":", 2) for line in text.splitlines() if line.count(b":") >= 2]
    paths = {name: path for _, names, path in lines for name in names.split(b",")}
    for name in (b"", b"name=systemd", b"cpu", b"memory"):
        if paths.get(name, b"/") != b"/":
            return paths[name]
    return paths.get(b"", b"")


def expected_row(tree, pid):
    """What proc(5) says that the files of this process hold; None where it has no stat."""
    folder = tree / "proc" / str(pid)
    match = re.fullmatch(rb"\d+ \((.*)\) (\S) ([-\d ]+)\n", read(folder / "stat"), re.S)
    if not match:
        return None
    stat = dict(zip(STAT, [match[2].decode(), *map(int, match[3].split())]))
    values = {name: value for name, value in stat.items() if name not in NOT_COLUMNS and name != "start_time"}
    values["comm"] = as_json(match[1])
    values["kthread"] = int(stat["flags"] & PF_KTHREAD != 0)
    if not stat["vsize"]:
        del values["vsize"], values["rss"]
    if read(tree / "proc/sys/kernel/task_delayacct").startswith(b"0"):
        values.pop("delayacct_blkio_ticks", None)
    for name in ("ppid", "pgrp", "session", "cutime", "cstime"):
        if values[name] < 0:
            del values[name]
    for key, value in re.findall(r"^(\w+):[ \t]*(\S+)", read(folder / "status").decode("latin-1"), re.M):
        if key in STATUS:
            values[STATUS[key]] = int(value)
        elif key in ("Cpus_allowed_list", "Mems_allowed_list"):
            values[key[:12].lower()] = value
    sched = re.fullmatch(rb"(\d+) (\d+) (\d+)\n", read(folder / "schedstat"))
    if sched and sched.groups() != (b"0", b"0", b"0"):
        values.update(zip(("sched_run", "sched_wait", "sched_slices"), map(int, sched.groups())))
    values.update((key, int(value)) for key, value in re.findall(r"^(\w+): (\d+)$", read(folder / "io").decode(), re.M))
    if (path := cgroup_path(read(folder / "cgroup"))):
        values["cgroup"] = as_json(path)
    return {"pid": pid, "start_time": stat["start_time"]}, values


def assert_tree(sonde, folder, tree):
    got = processes(run_agent(sonde, folder, root=tree))
    expected = {pid: expected_row(tree, pid) for pid in map(int, filter(str.isdigit, os.listdir(tree / "proc")))}
    expected = {pid: row for pid, row in expected.items() if row}
    assert sorted(got) == sorted(expected)
    for pid, (keys, values) in expected.items():
        assert got[pid]["keys"] == keys
        assert got[pid]["values"] == values, pid
    return got


def test_fixture(sonde, root, tmp_path):
    """Linux 6.18: a kernel thread, a zombie, a process whose leader thread ended (47), names that pose as records (5),
    hold a line feed (3) or half a character (6)."""
    fixture = root / "plugins/process/fixtures/6.18"
    rows = run_agent(sonde, tmp_path, root=fixture)
    got = [{key: row[key] for key in ("table", "keys", "values")} for row in rows if row["table"].startswith("process")]
    assert got == [json.loads(line) for line in (fixture / "expected.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    "tarball, count",
    [("pcp-procpid-2.6.32-root-001", 206), ("pcp-procpid-4.18.13-root-006", 3), ("pcp-procpid-5.5.7-root-007", 4)],
)
def test_captured_machines(sonde, shared, tmp_path, tarball, count):
    with tarfile.open(shared / "corpus" / f"{tarball}.tar.xz") as tar:
        tar.extractall(tmp_path / "tree")
    assert len(assert_tree(sonde, tmp_path, tmp_path / "tree")) == count


@pytest.mark.parametrize("name", ["numa2-6.1-pressure", "arm64-numa2-6.1-pressure", "numa2-7.2-pressure"])
def test_kernels_booted_for_it(sonde, shared, tmp_path, name):
    with tarfile.open(shared / "vm/fixtures" / f"{name}.tar.xz") as tar:
        tar.extractall(tmp_path)
    assert len(assert_tree(sonde, tmp_path, tmp_path / name / "t1")) == 5


def test_single_files(sonde, shared, tmp_path):
    """Names that broke jc: each of its stat files as a process of its own (3, 5)."""
    with tarfile.open(shared / "corpus/jc-fixtures.tar.xz") as tar:
        tar.extractall(tmp_path / "jc")
    for pid, name in ((1, "pid_stat"), (2, "pid_stat_hack"), (3, "pid_stat_w_space_and_nl_in_comm")):
        folder = tmp_path / "tree/proc" / str(pid)
        folder.mkdir(parents=True)
        shutil.copy(tmp_path / "jc/linux-proc" / name, folder / "stat")
    for name in ("status", "io"):
        shutil.copy(tmp_path / "jc/linux-proc" / f"pid_{name}", tmp_path / "tree/proc/1" / name)
    got = assert_tree(sonde, tmp_path, tmp_path / "tree")
    assert (got[2]["values"]["comm"], got[2]["values"]["ppid"]) == ("bad) S 1 2 3 4 5", 1888)
    assert (got[3]["values"]["comm"], got[3]["values"]["ppid"]) == ("my file with\nsp", 1888)
    assert got[1]["values"]["rchar"] == 4699288382


class Child:
    """A process of the test's own; ended by its id."""

    def __init__(self, *command, **options):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == b"ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def python(code, *arguments, **options):
    return Child(sys.executable, "-S", "-c", code, *arguments, **options)


SLEEP = "import time; print('ready', flush=True); time.sleep(600)"


def test_a_process_of_this_machine(sonde, tmp_path):
    """What stands still is equal; what moves lies between what was read before and after."""
    with python(SLEEP) as child:
        until = time.monotonic() + 30
        while (before := expected_row(SYSTEM, child.pid))[1]["state"] != "S":
            assert time.monotonic() < until
        got = processes(run_agent(sonde, tmp_path, f"pids = {child.pid}"))
        after = expected_row(SYSTEM, child.pid)
    assert list(got) == [child.pid]
    assert got[child.pid]["keys"] == before[0]
    values = got[child.pid]["values"]
    assert set(values) == set(before[1])
    for name, value in values.items():
        if isinstance(value, int):
            assert min(before[1][name], after[1][name]) <= value <= max(before[1][name], after[1][name]), name
        else:
            assert value == before[1][name]


def test_subtree(sonde, tmp_path):
    """The root, its child and its grandchild; not the test itself."""
    nested = (
        "import subprocess, sys, time\n"
        "depth = int(sys.argv[1])\n"
        "if depth:\n"
        "    child = subprocess.Popen([sys.executable, '-S', '-c', sys.argv[2], str(depth - 1), sys.argv[2]],\n"
        "                             stdout=subprocess.PIPE)\n"
        "    child.stdout.readline()\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with python(nested, "2", nested, stdin=subprocess.PIPE) as child:
        got = processes(run_agent(sonde, tmp_path, f"subtree = {child.pid}"))
        child.process.stdin.close()
    assert child.pid in got and len(got) == 3
    parents = {pid: row["values"]["ppid"] for pid, row in got.items()}
    (middle,) = [pid for pid, parent in parents.items() if parent == child.pid]
    (last,) = [pid for pid, parent in parents.items() if parent == middle]
    assert {child.pid, middle, last} == set(got)


def run_time(pid):
    """Of all threads, ns."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir())


def test_threads_are_summed(sonde, tmp_path):
    """73: the leader sleeps while three threads work."""
    busy = (
        "import threading, time\n"
        "def work():\n"
        "    end = time.thread_time() + 0.05\n"
        "    while time.thread_time() < end: pass\n"
        "    done.release()\n"
        "    time.sleep(600)\n"
        "done = threading.Semaphore(0)\n"
        "for _ in range(3): threading.Thread(target=work, daemon=True).start()\n"
        "for _ in range(3): done.acquire()\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    with python(busy) as child:
        before = run_time(child.pid)
        rows = run_agent(sonde, tmp_path, f"pids = {child.pid}\nthreads = yes")
        after = run_time(child.pid)
    values = processes(rows)[child.pid]["values"]
    if before == 0:
        assert "threads_run" not in values and any("CONFIG_SCHED_INFO" in note for note in notes(rows))
        return
    assert before <= values["threads_run"] <= after
    assert values["threads_run"] >= values["sched_run"] + 150_000_000
    assert values["num_threads"] == 4
    threads = {row["keys"]["tid"]: row["values"] for row in rows if row["table"] == "thread"}
    assert len(threads) == 4 and sum(thread["sched_run"] for thread in threads.values()) == values["threads_run"]
    assert sorted(thread["utime"] + thread["stime"] >= 4 for thread in threads.values()) == [False, True, True, True]
    assert all(0 <= thread["processor"] < os.cpu_count() for thread in threads.values())


@pytest.mark.parametrize(
    "form, expected",
    [
        ("name", None),
        ("redacted", "--password=* -p* --token * postgres://*@db/x -v"),
        ("full", "--password=s3cret -ps3cret --token s3cret postgres://a:s3cret@db/x -v"),
    ],
)
def test_command_lines(sonde, tmp_path, form, expected):
    """What is not to be kept does not leave the collector."""
    with python(SLEEP, "--password=s3cret", "-ps3cret", "--token", "s3cret", "postgres://a:s3cret@db/x", "-v") as child:
        rows = run_agent(sonde, tmp_path, f"pids = {child.pid}\ncmdline = {form}")
    line = processes(rows)[child.pid]["values"].get("cmdline")
    assert line is None if expected is None else line.startswith(sys.executable) and line.endswith(expected)
    assert ("s3cret" in json.dumps(rows)) == (form == "full")


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_another_user_sees_less(sonde):
    """Facts that may not be read are absent and told, not zero."""
    with python(SLEEP) as child, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        rows = run_agent(sonde, Path(folder), f"pids = {child.pid}", user=65534, group=65534, extra_groups=[])
    values = processes(rows)[child.pid]["values"]
    assert "rchar" not in values and values["num_threads"] == 1 and "vm_rss" in values
    assert any("I/O of 1 of 1 processes" in note for note in notes(rows))


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to mount /proc")
@pytest.mark.parametrize("hidepid", [1, 2])
def test_hidepid(build, hidepid, open_folder):
    """A real /proc that hides the processes of others: 1 lists what it does not let be read, 2 does not even list it."""
    own = ["unshare", "-pfm", "--mount-proc"]
    if subprocess.run([*own, "mount", "-o", f"remount,hidepid={hidepid}", "/proc"], capture_output=True).returncode:
        pytest.skip("no namespaces can be made here (unshare)")
    config, out = open_folder / "a.ini", open_folder / "out"
    config.write_text("[agent]\ninterval = 50ms\n[process]\nsource = proc\n[sink:stdout]\nformat = json\n")
    done = subprocess.run(
        [*own, "sh", "-c", f"mount -o remount,hidepid={hidepid} /proc; sleep 60 & setpriv --reuid=1000 --regid=1000 --clear-groups "
         f"{build}/sonde agent -c {config} --max-frames 3 >{out}; exit $?"], cwd=open_folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    hidden = {row["values"]["hidden"] for row in rows if row["table"] == "processes"}
    mine = {row["values"]["uid"] for row in rows if row["table"] == "process"}
    assert mine == {1000}
    assert hidden == ({2} if hidepid == 1 else {0})  # the shell and its sleep, which are root's
    (note,) = [text for text in notes(rows) if "not visible" in text]
    assert "hidepid" in note


def test_exec_is_seen(build, tmp_path):
    """The command line follows an exec that happens while it is recorded."""
    with python("import os, sys; print('ready', flush=True); sys.stdin.readline(); os.execlp('sleep', 'sleep', '600')",
                stdin=subprocess.PIPE) as child:
        config = tmp_path / "exec.ini"
        config.write_text(f"[agent]\ninterval = 20ms\n[process]\npids = {child.pid}\ncmdline = full\n"
                          "[sink:stdout]\nformat = json\nflush = 0s\n")
        with subprocess.Popen([build / "sonde", "agent", "-c", config], stdout=subprocess.PIPE) as agent:
            try:
                first = next_process(agent)
                child.process.stdin.write(b"\n")
                child.process.stdin.flush()
                row = next_process(agent, lambda row: row["values"]["comm"] == "sleep")
            finally:
                agent.terminate()
                agent.stdout.read()
    assert first["values"]["cmdline"].startswith(sys.executable)
    assert row["values"]["cmdline"] == "sleep 600"
    assert row["keys"] == first["keys"]


def next_process(agent, wanted=lambda row: True):
    for line in agent.stdout:
        row = json.loads(line)
        if row["table"] == "process" and wanted(row):
            return row
    raise AssertionError("the agent ended")


@pytest.mark.parametrize(
    "options, says",
    [
        ("pids = 12x", "12x"),
        ("pids = 1\nsubtree = 1", "two sections"),
        ("files = stat statm", "statm"),
        ("cmdline = short", "name"),
        ("max = 0", "max"),
        ("pid = 1", "pids"),
    ],
)
def test_mistakes(sonde, tmp_path, options, says):
    config = tmp_path / "process.ini"
    config.write_text(f"[process]\n{options}\n[sink:stdout]\nformat = json\n")
    done = sonde("check", "-c", config)
    assert done.returncode != 0
    assert says in done.stderr


def test_no_such_process(sonde, tmp_path):
    config = tmp_path / "process.ini"
    config.write_text("[process]\npids = 2147483647\n[sink:stdout]\nformat = json\n")
    done = sonde("agent", "-c", config, "--max-frames", 1)
    assert done.returncode == 1
    assert "none of the processes chosen lives" in done.stderr


def test_nobody_is_chosen(sonde, tmp_path):
    """Whoever records hears it, and a report puts down to it what is missing."""
    recording = tmp_path / "nobody.sonde"
    said = "no process is in cgroup = /sonde-nobody"
    done = sonde("record", "-q", "-i", "50ms", "--max-frames", 3, "--cgroup", "/sonde-nobody", "-o", recording, check=True)
    assert said in done.stderr
    judgements = json.loads(sonde("report", "--json", recording, check=True).stdout)["catalogue"]["judgements"]
    (wait,) = [j for j in judgements if j["id"] == "cpu.process_runq_wait"]
    assert wait["verdict"] == "not_judged" and said in wait["reason"]


@pytest.mark.skipif(not shutil.which("strace"), reason="strace counts the system calls")
def test_proc_is_not_listed_where_events_are_permitted(agent, sonde, tmp_path, wait_until, caught_up):
    """Once at the start; what is born later is in the rows all the same, whole and in time."""
    config, path, calls = tmp_path / "a.ini", tmp_path / "a.sonde", tmp_path / "calls"
    config.write_text("[agent]\ninterval = 50ms\n[process]\nsource = proc\n"
                      f"[sink:file]\npath = {path}\nflush = 50ms\n")
    running = agent("agent", "-c", config)
    wait_until(lambda: path.exists() and path.stat().st_size)
    with subprocess.Popen(["strace", "-f", "-qq", "-e", "trace=getdents64,recvfrom", "-o", calls, "-p", str(running.pid)],
                          stderr=subprocess.DEVNULL) as tracer:
        wait_until(lambda: calls.exists() and calls.read_text())
        with python(SLEEP) as child:
            born = expected_row(SYSTEM, child.pid)[0]
            for _ in range(3):
                caught_up(path, "processes")
        caught_up(path, "processes")
        tracer.terminate()
    assert running.end() == 0, running.stderr
    if "recvfrom" not in calls.read_text():
        pytest.skip("process events are not permitted here")
    assert "getdents64" not in calls.read_text()
    rows = [json.loads(line) for line in sonde("cat", "--json", path).stdout.splitlines()]
    seen = [row["sequence"] for row in rows if row["table"] == "process" and row["keys"] == born]
    last = max(row["sequence"] for row in rows if row["table"] == "processes")
    assert len(seen) >= 3 and seen[-1] < last


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("strace"), reason="needs root to become another user, and strace")
def test_elsewhere_proc_is_listed_once_a_tick_at_most(build, background):
    """Without the right to process events, while processes come and go: at the start, and then no more often than there are ticks."""
    frames = 10
    background("sh", "-c", "while :; do /bin/true; done")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        config, calls = Path(folder) / "a.ini", Path(folder) / "calls"
        config.write_text("[agent]\ninterval = 50ms\n[process]\nsource = proc\n[sink:stdout]\nformat = json\n")
        done = subprocess.run(["strace", "-f", "-y", "-qq", "-e", "trace=getdents64", "-o", calls, build / "sonde", "agent", "-c", config,
                               "--max-frames", str(frames)], capture_output=True, text=True, user=65534, group=65534, extra_groups=[])
        if "ptrace" in done.stderr:
            pytest.skip("strace may not trace here")
        assert done.returncode == 0, done.stderr
        listed = len(re.findall(r"getdents64\(\d+</proc>.* = 0$", calls.read_text(), re.M))
    assert done.stdout.count('"table":"processes"') == frames
    assert 1 <= listed <= 1 + frames


@pytest.mark.parametrize("source", ["proc", "bpf"])
def test_time_of_a_subtree_holds_short_lives(agent, sonde, tmp_path, wait_until, caught_up, source):
    """43, 44: children that live between two samples, and what each used after its last; the oracle is getrusage(2) of the root."""
    root = (
        "import os, resource, subprocess, sys, time\n"
        "def burn(seconds):\n"
        "    end = time.process_time() + seconds\n"
        "    while time.process_time() < end: pass\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "for seconds in [0.02] * 10 + [0.13] * 3:\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        burn(seconds)\n"
        "        os._exit(0)\n"
        "    os.waitpid(pid, 0)\n"
        "uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]\n"
        "print(sum(use.ru_utime + use.ru_stime for use in uses), flush=True)\n"
        "time.sleep(600)\n"
    )
    config, path = tmp_path / "a.ini", tmp_path / "a.sonde"
    with python(root, stdin=subprocess.PIPE) as child:
        config.write_text(f"[agent]\ninterval = 100ms\n[process]\nsubtree = {child.pid}\nsource = {source}\n"
                          f"[sink:file]\npath = {path}\nflush = 50ms\n")
        running = agent("agent", "-c", config)
        wait_until(lambda: path.exists() and path.stat().st_size)
        child.process.stdin.write(b"go\n")
        child.process.stdin.flush()
        used = float(child.process.stdout.readline())
        caught_up(path, "processes")
        assert running.end() == 0, running.stderr
    rows = [json.loads(line) for line in sonde("cat", "--json", path).stdout.splitlines()]
    told = [row["values"]["subtree_cpu"] for row in rows if row["table"] == "processes"]
    assert told == sorted(told)
    ticks = os.sysconf("SC_CLK_TCK")
    assert used >= 0.59 and abs(told[-1] - used * ticks) <= 5, (told[-1], used)


# ---- source = bpf


def bpf_rows(sonde, folder, options="", **how):
    """Rows that came from the iterator; skips where BPF is not to be had."""
    rows = run_agent(sonde, folder, f"source = bpf\n{options}", **how)
    for note in notes(rows):
        if "not by BPF" in note:
            pytest.skip(note)
    return rows


COUNTERS = (
    "utime stime guest_time minflt majflt voluntary_ctxt_switches nonvoluntary_ctxt_switches sched_run sched_wait sched_slices "
    "rchar wchar syscr syscw read_bytes write_bytes cutime cstime cminflt cmajflt"
).split()


def assert_between(got, before, after):
    """Counters lie between what the texts said before and after; of what did not run in between, all is equal."""
    assert set(got) in (set(before), set(after))  # one that ends meanwhile has no memory left
    for name in COUNTERS:
        if name in got and name not in ("utime", "stime"):
            assert before[name] <= got[name] <= after[name], name
    # The kernel divides their sum anew at each look (cputime_adjust()), and both lose the part of a tick.
    old, now, new = (values["utime"] + values["stime"] for values in (before, got, after))
    assert old - 1 <= now <= new + 1
    if before == after and before["num_threads"] == 1:
        assert got == before


WORKED = (
    "import os, signal, threading, time\n"
    "def work():\n"
    "    end = time.thread_time() + 0.07\n"
    "    while time.thread_time() < end: os.getppid()\n"
    "threads = [threading.Thread(target=work) for _ in range(2)]\n"
    "for thread in threads: thread.start()\n"
    "for thread in threads: thread.join()\n"
    "stay = [threading.Thread(target=time.sleep, args=(600,), daemon=True) for _ in range(2)]\n"
    "for thread in stay: thread.start()\n"
    "work()\n"
    "open('/dev/null', 'w').write('x' * 100)\n"
    "os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})\n"
    "memory = bytearray(20 << 20)\n"
    "print('ready', flush=True)\n"
    "time.sleep(600)\n"
)


def test_bpf_and_proc_say_the_same_of_stopped_processes(sonde, tmp_path):
    """Field by field; with threads that live and that ended, children that were waited for, and each thread's own row."""
    with python(WORKED) as child, python(SLEEP) as quiet:
        for each in (child, quiet):
            each.process.send_signal(signal.SIGSTOP)
        until = time.monotonic() + 30
        threads = [path for each in (child, quiet) for path in Path(f"/proc/{each.pid}/task").glob("*/stat")]
        while any(read(path).rpartition(b") ")[2][:1] != b"T" for path in threads):  # each stops by itself
            assert time.monotonic() < until
        options = f"pids = {child.pid}, {quiet.pid}\nthreads = yes\ncmdline = full"
        text = run_agent(sonde, tmp_path, f"source = proc\n{options}")
        record = bpf_rows(sonde, tmp_path, options)
    for table in ("process", "thread"):
        old, new = ([(row["keys"], row["values"]) for row in rows if row["table"] == table] for rows in (text, record))
        assert len(old) == (2 if table == "process" else 4)
        assert new == old
    assert processes(record)[child.pid]["values"]["num_threads"] == 3


def test_bpf_and_proc_of_all_processes(sonde, tmp_path):
    """Of what runs each value lies between two readings of the texts; kernel threads, sonde's own test and pid 1 included."""
    before = {pid: expected_row(SYSTEM, pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc")))}
    rows = processes(bpf_rows(sonde, tmp_path))
    after = {pid: expected_row(SYSTEM, pid) for pid in before}
    lasting = [pid for pid in before if before[pid] and after[pid] and before[pid][0] == after[pid][0]]
    assert {1, 2, os.getpid()} <= set(lasting) <= set(rows)
    for pid in lasting:
        assert rows[pid]["keys"] == before[pid][0]
        got = dict(rows[pid]["values"])
        old, new = before[pid][1], after[pid][1]
        if got["kthread"]:  # a worker's name says in /proc what it works on
            assert old.pop("comm").startswith(got.pop("comm"))
            new.pop("comm")
        if pid == 1:  # some iterators leave it out; who may not trace it can't read its I/O
            continue
        assert_between(got, old, new)


def test_bpf_capture_is_reparsed(sonde, tmp_path):
    old, new = tmp_path / "old.sonde", tmp_path / "new.sonde"
    config = tmp_path / "a.ini"
    config.write_text("[agent]\ninterval = 50ms\n[process]\nsource = bpf\nthreads = yes\ncapture = raw\n"
                      f"[sink:file]\npath = {old}\n")
    assert sonde("agent", "-c", config, "--max-frames", 3).returncode == 0
    done = sonde("reparse", old, "-o", new)
    assert done.returncode == 0, done.stderr
    assert sonde("cat", "--json", new).stdout == sonde("cat", "--json", old).stdout


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_without_the_right_to_bpf_proc_is_read(sonde):
    with python(SLEEP) as child, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        rows = run_agent(sonde, Path(folder), f"source = bpf\npids = {child.pid}", user=65534, group=65534, extra_groups=[])
    assert child.pid in processes(rows)
    assert [note for note in notes(rows) if "not by BPF" in note] == [
        "tasks are read from /proc, not by BPF: it needs CAP_BPF and CAP_PERFMON"]


def test_bpf_tells_of_another_cgroup(agent, sonde, tmp_path, wait_until, cgroup):
    """An idle process that another one moves."""
    config, path = tmp_path / "a.ini", tmp_path / "a.sonde"
    v1 = Path("/sys/fs/cgroup/cpu")
    there = cgroup(v1 if v1.exists() else v1.parent, "there")

    def cgroups():
        rows = [json.loads(line) for line in sonde("cat", "--json", path, check=False).stdout.splitlines()]
        if any("not by BPF" in note for note in notes(rows)):
            pytest.skip("no BPF here")
        return [row["values"].get("cgroup") for row in rows if row["table"] == "process" and row["keys"]["pid"] == child.pid]

    with python(SLEEP) as child:
        config.write_text(f"[agent]\ninterval = 20ms\n[process]\nsource = bpf\npids = {child.pid}\n"
                          f"[sink:file]\npath = {path}\nflush = 20ms\n")
        running = agent("agent", "-c", config)
        wait_until(lambda: path.exists() and path.stat().st_size and cgroups(), timeout=30)
        (there / "cgroup.procs").write_text(f"{child.pid}\n")
        told = as_json(cgroup_path(read(Path(f"/proc/{child.pid}/cgroup"))))
        assert told.endswith("/there")
        wait_until(lambda: cgroups()[-1] == told, timeout=30)
        assert running.end() == 0, running.stderr


def test_bpf_tells_who_ran_after_a_rest(agent, sonde, tmp_path, wait_until, caught_up):
    """Idle processes are told by their times alone; one that works again is read again, and all is as in /proc at the end."""
    burst = (
        "import sys, time\n"
        "print('ready', flush=True)\n"
        "for line in sys.stdin:\n"
        "    end = time.process_time() + 0.1\n"
        "    while time.process_time() < end: pass\n"
        "    memory = bytearray(8 << 20)\n"
        "    print('done', flush=True)\n"
    )
    config, path = tmp_path / "a.ini", tmp_path / "a.sonde"
    with python(burst, stdin=subprocess.PIPE) as child, python(SLEEP) as quiet:
        config.write_text("[agent]\ninterval = 20ms\n[process]\nsource = bpf\n"
                          f"[sink:file]\npath = {path}\nflush = 20ms\n")
        running = agent("agent", "-c", config)
        wait_until(lambda: path.exists() and path.stat().st_size)
        time.sleep(1)  # at rest
        child.process.stdin.write(b"go\n")
        child.process.stdin.flush()
        assert child.process.stdout.readline() == b"done\n"
        caught_up(path, "processes")
        texts = {each.pid: expected_row(SYSTEM, each.pid) for each in (child, quiet)}
        assert running.end() == 0, running.stderr
    rows = [json.loads(line) for line in sonde("cat", "--json", path).stdout.splitlines()]
    if any("not by BPF" in note for note in notes(rows)):
        pytest.skip("no BPF here")
    series = [row["values"] for row in rows if row["table"] == "process" and row["keys"]["pid"] == child.pid]
    assert series[-1]["sched_run"] - series[0]["sched_run"] >= 100_000_000
    for pid, (_, values) in texts.items():
        last = processes(rows)[pid]["values"]
        # The kernel divides sched_run into these two anew at each look, and keeps what it said before: cputime_adjust().
        for name in ("utime", "stime"):
            assert last[name] == pytest.approx(values.pop(name), abs=1)
        assert {name: last[name] for name in values} == values
