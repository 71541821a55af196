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


@pytest.mark.parametrize(
    "form, expected",
    [
        ("name", None),
        ("redacted", "--password=* -p* *"),
        ("full", "--password=s3cret -ps3cret s3cret"),
    ],
)
def test_command_lines(sonde, tmp_path, form, expected):
    """What is not to be kept does not leave the collector."""
    with python(SLEEP, "--password=s3cret", "-ps3cret", "s3cret") as child:
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
