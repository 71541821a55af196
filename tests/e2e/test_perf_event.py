"""The collector perf_event beside what the kernel says elsewhere: /proc/PID/stat, status and schedstat, and perf(1).

The target waits while counters are attached, works, and waits again, so that both sides count exactly the same work. This
needs no hardware counters: software events go through the same calls.
"""

import contextlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from live import document, rows

TARGET = """
import mmap, os, sys, threading
PAGE = mmap.PAGESIZE

def touch(pages):
    with mmap.mmap(-1, pages * PAGE) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for at in range(0, pages * PAGE, PAGE):
            memory[at] = 1

def wait():
    sys.stdout.write("ready\\n")
    sys.stdout.flush()
    sys.stdin.readline()

before = threading.Barrier(41)
after = threading.Barrier(41)
def work():
    before.wait()
    touch(50)
    after.wait()
"""
ONE = TARGET + "wait(); touch(3000); wait()\n"
# Threads that are there already, a thread that one of them starts, and a child.
MANY = TARGET + """
threads = [threading.Thread(target=work) for i in range(40)]
for each in threads: each.start()
wait()
before.wait(); after.wait()
late = threading.Thread(target=touch, args=(700,))
late.start(); late.join()
child = os.fork()
if child == 0:
    touch(900)
    os._exit(0)
os.waitpid(child, 0)
wait()
"""
SOFT = "group = soft = {page-faults,minor-faults,context-switches,task-clock}\n"


class Target:
    """A program that waits twice."""

    def __init__(self, program, **options):
        self.process = subprocess.Popen([sys.executable, "-S", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, **options)
        self.pid = self.process.pid
        self.reach()

    def reach(self):
        assert self.process.stdout.readline() == "ready\n"
        while "S" not in self.status("State"):  # it has said so, and sleeps
            time.sleep(0.005)

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def status(self, key):
        return re.search(rf"^{key}:\s*(.*)", Path(f"/proc/{self.pid}/status").read_text(), re.M).group(1)

    def stat(self):
        return Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()

    def faults(self):
        """Of the process and of children that ended: fields 10 to 13 of proc(5)."""
        return sum(int(field) for field in self.stat()[7:11])

    def switches(self):
        return int(self.status("voluntary_ctxt_switches")) + int(self.status("nonvoluntary_ctxt_switches"))

    def run_ns(self):
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[0])

    def end(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def target():
    started = []

    def start(program, **options):
        started.append(Target(program, **options))
        return started[-1]

    yield start
    for each in started:
        each.end()


@pytest.fixture
def counting(agent, tmp_path, wait_until):
    """counting(section) starts an agent with it and waits for its first row; its newest rows are latest(running)."""

    def start(section, **options):
        config = tmp_path / "perf_event.ini"
        config.write_text(f"[agent]\ninterval = 20ms\n[perf_event]\n{section}\n[sink:stdout]\nformat = json\nflush = 0s\n")
        running = agent("agent", "-c", config, **options)
        wait_until(lambda: rows(running.stdout, "perf_event"))
        return running

    return start


def sequence(running):
    return max(row["sequence"] for row in rows(running.stdout, "perf_event"))


def latest(running, table, wait_until):
    """Rows of a table that were read after now."""
    now = sequence(running)
    wait_until(lambda: sequence(running) > now + 1)
    found = rows(running.stdout, table)
    last = max(row["sequence"] for row in found)
    return [row for row in found if row["sequence"] == last]


def notes(running):
    return [row["values"]["text"] for row in rows(running.stdout, "note")]


def test_a_process_beside_the_kernel(target, counting, wait_until):
    """Faults and switches exactly; CPU time within the reading of it."""
    it = target(ONE)
    faults, switches, run_ns = it.faults(), it.switches(), it.run_ns()
    running = counting(SOFT + f"pids = {it.pid}\n")
    it.go()
    it.reach()
    row = latest(running, "perf_event_soft_process", wait_until)[0]
    values = row["values"]
    assert row["keys"] == {"pmu": "software", "pid": it.pid, "start_time": int(it.stat()[19])}
    assert values["page_faults"] == it.faults() - faults >= 3000
    assert values["minor_faults"] == values["page_faults"]
    assert values["context_switches"] == it.switches() - switches > 0
    assert values["task_clock"] == pytest.approx(it.run_ns() - run_ns, rel=0.05)
    assert values["time_enabled"] == values["time_running"] > 0


def test_threads_and_children(target, counting, wait_until):
    """40 threads that are there, one that begins later, a child: all are of the process."""
    it = target(MANY)
    before = it.faults()
    running = counting(SOFT + f"pids = {it.pid}\n")
    it.go()
    it.reach()
    counted = latest(running, "perf_event_soft_process", wait_until)[0]["values"]["page_faults"]
    assert counted == it.faults() - before
    assert counted >= 40 * 50 + 700 + 900


def counters(pid):
    """Descriptors of events that a process has open; it may open and close others meanwhile."""
    count = 0
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            count += "perf_event" in os.readlink(each)
    return count


def test_beside_perf(target, counting, wait_until, tmp_path):
    """perf stat attached to the same process at the same time."""
    perf = shutil.which("perf")
    if not perf:
        pytest.skip("no perf(1): Debian's package is linux-perf")
    it = target(MANY)
    running = counting(SOFT + f"pids = {it.pid}\n")
    found = tmp_path / "perf.csv"
    other = subprocess.Popen([perf, "stat", "-x,", "-o", found, "-e", "page-faults,context-switches,minor-faults", "-p",
                              str(it.pid)], stderr=subprocess.DEVNULL)
    try:
        # 41 threads by 3 events.
        wait_until(lambda: counters(other.pid) >= 123)
        time.sleep(0.2)  # they are enabled one by one
        it.go()
        it.reach()
        values = latest(running, "perf_event_soft_process", wait_until)[0]["values"]
    finally:
        other.send_signal(2)
        other.wait()
    theirs = dict(reversed(line.split(",")[0:3:2]) for line in found.read_text().splitlines() if line.count(",") > 3)
    assert {name.split(":")[0]: int(count) for name, count in theirs.items()} == {
        "page-faults": values["page_faults"],
        "context-switches": values["context_switches"],
        "minor-faults": values["minor_faults"],
    }


def test_a_command_from_its_first_instruction(target, counting, wait_until):
    """What the waiting child did before exec is not counted, what the command does from the beginning is."""
    command = TARGET + "touch(4000); wait()"
    it = target(TARGET + f"import sys; wait(); touch(20000); os.execv(sys.executable, [sys.executable, '-S', '-c', {command!r}])")
    running = counting(SOFT + f"pids = {it.pid}\nenable_on_exec = yes\n")
    first = latest(running, "perf_event_soft_process", wait_until)[0]["values"]
    assert first["time_enabled"] == 0 and "page_faults" not in first
    it.go()
    it.reach()
    # Python itself needs some to start: as many as when it starts by itself.
    alone = subprocess.run([sys.executable, "-S", "-c", "import mmap, os, sys, threading, resource;"
                            "print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)"], capture_output=True, check=True)
    counted = latest(running, "perf_event_soft_process", wait_until)[0]["values"]["page_faults"]
    assert 4000 < counted < 4000 + 3 * int(alone.stdout)


def test_what_ended_is_not_lost(target, counting, wait_until):
    it = target(TARGET + "wait(); touch(2000)\n")
    before = it.faults()
    running = counting(SOFT + f"pids = {it.pid}\n")
    it.go()
    it.process.wait()
    assert latest(running, "perf_event_soft_process", wait_until)[0]["values"]["page_faults"] >= 2000
    assert before > 0


def test_cpus(counting, wait_until):
    """A row a CPU; its clock is the time that went by, and the machine's switches are in them."""
    def kernels():
        return int(re.search(r"^ctxt (\d+)", Path("/proc/stat").read_text(), re.M).group(1))

    before = kernels()
    running = counting("group = soft = {cpu-clock,context-switches,page-faults}\n")
    first = latest(running, "perf_event_soft", wait_until)
    least = kernels()
    time.sleep(0.3)
    most_begin = kernels()
    second = latest(running, "perf_event_soft", wait_until)
    after = kernels()
    assert sorted(row["keys"]["cpu"] for row in second) == sorted(os.sched_getaffinity(0))
    counted = sum(b["values"]["context_switches"] - a["values"]["context_switches"] for a, b in zip(first, second))
    # No task switch to and from idle is left out: what ran between the two readings of /proc/stat around it.
    assert most_begin - least <= counted <= after - before
    for a, b in zip(first, second):
        went = b["boottime"] - a["boottime"]
        assert b["values"]["cpu_clock"] - a["values"]["cpu_clock"] == pytest.approx(went, rel=0.2)


def test_reparse_is_the_same(sonde, target, tmp_path):
    """Reads of counters and what opening said come from the recording: byte for byte the same rows, none counted anew."""
    it = target(MANY)
    old, new, config = tmp_path / "old.sonde", tmp_path / "new.sonde", tmp_path / "a.ini"
    config.write_text(f"[agent]\ninterval = 20ms\ncapture = raw\n[perf_event cpus]\n{SOFT}event = nonsense\nevent = cpu-clock\n"
                      f"[perf_event one]\n{SOFT}pids = {it.pid}\n[sink:file]\npath = {old}\n")
    done = sonde("agent", "-c", config, "--max-frames", "4")
    assert done.returncode == 0, done.stderr
    it.end()  # the process is gone
    done = sonde("reparse", old, "-o", new)
    assert done.returncode == 0, done.stderr
    before, after = sonde("cat", "--json", old).stdout, sonde("cat", "--json", new).stdout
    assert len(rows(before, "perf_event_soft")) == 4 * len(os.sched_getaffinity(0))
    assert len(rows(before, "perf_event_soft_process")) == 4
    assert after == before


def test_a_formula_of_the_users_own(agent, sonde, target, tmp_path, wait_until, caught_up):
    """A group of his folder, whose formulas the report tells in his units: of what the columns grew by, as the rows have it. Needs no
    hardware counters: the events are the kernel's own."""
    it = target(TARGET + "wait(); touch(10); wait(); touch(3000); wait()\n")
    folder, path, config = tmp_path / "groups", tmp_path / "a.sonde", tmp_path / "a.ini"
    table = "perf_event_mine_process"
    folder.mkdir()
    (folder / "mine.groups").write_text(
        "match = *\n[mine] What it costs the kernel.\nfaults = page-faults [faults] All.\nminor = minor-faults [faults] Without I/O.\n"
        "switches = context-switches [switches] All.\nminor_share := minor / faults [share] Of all.\n"
        "odd := (3 * faults - minor) / (2 * switches) [faults per switch] Odd.\n"
        "fault_rate := 1000000 * faults / time_running [faults per ms] Of the time on a CPU.\n")
    config.write_text(f"[agent]\ninterval = 20ms\n[perf_event]\ngroup = mine\ngroup_path = {folder}\npids = {it.pid}\n"
                      f"[sink:file]\npath = {path}\n")
    running = agent("agent", "-c", config)
    wait_until(path.exists, timeout=30)
    for _ in range(2):
        caught_up(path, table)
        it.go()
        it.reach()
    caught_up(path, table)
    assert running.end(timeout=30) == 0
    # While it has not run there is nothing that was counted.
    found = [row["values"] for row in rows(sonde("cat", "--json", "-t", table, path).stdout) if "faults" in row["values"]]
    faults, minor, switches, ran = (found[-1][key] - found[0][key] for key in ("faults", "minor", "switches", "time_running"))
    assert faults >= 3000 and switches > 0
    told = {metric["name"]: metric for metric in document(sonde, "report", path)["metrics"] if metric["name"].startswith("perf_event")}
    assert {metric["about"] for metric in told.values()} == {f"process {it.pid} ({found[-1]['comm']})"}
    for name, value, unit in (("minor_share", minor / faults, ("ratio", "")),
                              ("odd", (3 * faults - minor) / (2 * switches), ("count", "faults per switch")),
                              ("fault_rate", 1e6 * faults / ran, ("count", "faults per ms"))):
        metric = told[f"{table}.{name}"]
        assert (metric["unit"], metric["counted"]) == unit
        assert metric["value"] == pytest.approx(value, rel=1e-6)
        assert metric["origin"].startswith(f"{table} ")


def test_a_capture_of_an_arm64_machine(sonde, root, tmp_path):
    """Linux 6.1, PMUv3 as qemu emulates it, one cycle an instruction; CPU 1 goes away in the fifth sample and is back in the
    tenth, its counters at their beginning (tests/vm/pmu_scenario)."""
    fixtures = root / "plugins/perf_event/fixtures"
    new = tmp_path / "new.sonde"
    done = sonde("reparse", fixtures / "armv8_pmuv3.sonde", "-o", new)
    assert done.returncode == 0, done.stderr
    found = {(row["sequence"], row["table"], str(row["keys"])): row["values"] for row in rows(sonde("cat", "--json", new).stdout)}
    expected = [json.loads(line) for line in (fixtures / "armv8_pmuv3.jsonl").read_text().splitlines()]
    assert len(expected) > 30
    for row in expected:
        assert found[row["sequence"], row["table"], str(row["keys"])] == row["values"]
    assert (7, "perf_event_core", str({"pmu": "armv8_pmuv3", "cpu": 1})) not in found


def as_user(sonde, section, **options):
    """Output of an agent that an ordinary user runs, in a folder that he can read."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        config = Path(folder) / "a.ini"
        config.write_text(f"[agent]\ninterval = 20ms\n[perf_event]\n{section}\n[sink:stdout]\nformat = json\n")
        return sonde("agent", "-c", config, "--max-frames", "2", user=1000, group=1000, extra_groups=[], cwd=folder, **options)


def paranoid():
    return int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become an ordinary user")


@needs_root
def test_an_ordinary_user_and_cpus(sonde):
    if paranoid() < 1:
        pytest.skip("kernel.perf_event_paranoid is below 1: anybody may count CPUs")
    done = as_user(sonde, SOFT)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert f"kernel.perf_event_paranoid is {paranoid()}" in done.stderr
    assert "CAP_PERFMON" in done.stderr and "sysctl kernel.perf_event_paranoid=0" in done.stderr


@needs_root
def test_an_ordinary_user_and_his_process(sonde, target):
    """Level 2: faults are counted without the kernel's share, and it says so; switches would be 0, and are not counted."""
    if paranoid() != 2:
        pytest.skip(f"for kernel.perf_event_paranoid 2, which is {paranoid()} here")
    it = target(ONE, user=1000, group=1000, extra_groups=[])
    done = as_user(sonde, SOFT + f"pids = {it.pid}\n")
    assert done.returncode == 0, done.stderr
    events = {row["keys"]["event"]: row["values"] for row in rows(done.stdout, "perf_event")}
    assert events["page_faults"]["user_only"] == 1 and events["page_faults"]["opened"] == 1
    assert events["context_switches"]["opened"] == 0
    assert "needs CAP_PERFMON" in events["context_switches"]["reason"]
    assert "context_switches" not in rows(done.stdout, "perf_event_soft_process")[0]["values"]
    assert any("in the kernel is not counted" in note for note in (row["values"]["text"] for row in rows(done.stdout, "note")))


def test_too_few_descriptors(sonde, tmp_path):
    """The limit of the shell is raised as far as it may; beyond, the number that would do is said."""
    events = len(os.sched_getaffinity(0)) * 4
    config = tmp_path / "a.ini"
    config.write_text(f"[agent]\nkeep = 0\n[perf_event]\n{SOFT}[sink:stdout]\nformat = json\n")

    def limited(soft, hard):
        return sonde("agent", "-c", config, "--max-frames", "1",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))

    done = limited(64, 4096)
    assert done.returncode == 0, done.stderr
    assert rows(done.stdout, "perf_event_soft")
    done = limited(64, 200)
    assert done.returncode == 1
    assert f"ulimit -n {256 + events}" in done.stderr and "permi" not in done.stderr


def in_namespace(command):
    """A command with tracefs mounted, for itself alone."""
    return ["unshare", "-m", "sh", "-c", 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"', "sh", *map(str, command)]


def test_tracepoints(build, target, background, tmp_path, wait_until):
    if subprocess.run(in_namespace(["true"]), capture_output=True).returncode:
        pytest.skip("no tracefs may be mounted here")
    it = target(ONE)
    config = tmp_path / "a.ini"
    config.write_text("[agent]\ninterval = 20ms\n[perf_event]\ngroup = both = {sched:sched_switch,context-switches}\n"
                      f"pids = {it.pid}\n[sink:stdout]\nformat = json\nflush = 0s\n")
    running = background(*in_namespace([build / "sonde", "agent", "-c", config]))
    wait_until(lambda: rows(running.stdout, "perf_event"))
    it.go()
    it.reach()
    values = latest(running, "perf_event_both_process", wait_until)[0]["values"]
    assert values["sched_switch"] == values["context_switches"] > 0


@needs_root
def test_a_cgroup(build, target, counting, wait_until):
    mounts = [line.split()[1:4] for line in Path("/proc/mounts").read_text().splitlines()]
    found = [place for place, kind, options in mounts if kind == "cgroup" and "perf_event" in options.split(",")]
    found += [place for place, kind, options in mounts if kind == "cgroup2"]
    if not found:
        pytest.skip("no cgroup hierarchy that perf_event uses")
    folder = Path(found[0]) / f"sonde-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup may be made here: {error}")
    try:
        it, other = target(ONE), target(ONE)
        (folder / "cgroup.procs").write_text(str(it.pid))
        before = it.faults()
        running = counting(f"{SOFT}cgroup = /{folder.name}\ncgroup = /is/not/there\n")
        it.go()
        other.go()
        it.reach()
        other.reach()
        row = latest(running, "perf_event_soft_cgroup", wait_until)[0]
        assert row["keys"] == {"pmu": "software", "cgroup": f"/{folder.name}"}
        assert row["values"]["page_faults"] == it.faults() - before
        assert any("cgroup /is/not/there: No such file" in note for note in notes(running))
    finally:
        it.end()
        folder.rmdir()


@needs_root
def test_an_agent_in_a_pid_namespace_of_its_own(build, target, tmp_path):
    """The number is another process's there, or nobody's: it is not counted, and why is said."""
    if subprocess.run(["unshare", "-pf", "true"], capture_output=True).returncode:
        pytest.skip("no pid namespace may be made here")
    it = target(ONE)
    config = tmp_path / "a.ini"
    config.write_text(f"[perf_event]\n{SOFT}pids = {it.pid}\n[sink:stdout]\n")
    for how, words in (([], "is not the same in this agent's pid namespace"), (["--mount-proc"], "is gone")):
        done = subprocess.run(["unshare", "-pf", *how, build / "sonde", "agent", "-c", config, "--max-frames", "1"], timeout=60,
                              capture_output=True, text=True)
        assert done.returncode == 1
        assert f"process {it.pid} {words}" in done.stderr


def test_another_machines_tree(sonde, tmp_path):
    """What could be counted is this machine, so nothing is; this machine under another path is itself."""
    config = tmp_path / "a.ini"
    (tmp_path / "proc").mkdir()

    def under(folder):
        config.write_text(f"[agent]\nroot = {folder}\n[perf_event]\n{SOFT}[sink:stdout]\nformat = json\n")
        return sonde("agent", "-c", config, "--max-frames", "1")

    done = under(tmp_path)
    assert done.returncode == 1 and "is another machine's" in done.stderr
    done = under("/proc/self/root")
    assert done.returncode == 0, done.stderr
    assert rows(done.stdout, "perf_event_soft")


@pytest.mark.parametrize("section, words", [
    ("pids = 1\ncpus = 0\n", "exclude each other"),
    ("pids = x\n", "numbers of processes are wanted"),
    ("enable_on_exec = yes\n", "enable_on_exec is for pids"),
    ("group = a = {nonsense}\n", "neither the kernel, sysfs nor libpfm"),
    ("event = nopmu/event=1/\n", "no PMU nopmu"),
    ("event = software/event=1\n", "malformed"),
])
def test_mistakes(sonde, tmp_path, section, words):
    config = tmp_path / "a.ini"
    config.write_text(f"[perf_event]\n{section}[sink:stdout]\n")
    done = sonde("agent", "-c", config, "--max-frames", "1")
    assert done.returncode == 1
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("content, says", [
    (b"match = *\n[mine] h\na = cpu-clock [ns] h\nr := a / / 2 [x] h\n", ":4: a formula is of"),
    (b"\xef\xbb\xbfmatch = *\n[mine] h\na = cpu-clock [ns] h\n", ":1: a name is"),
    (b"match = *\n[mine] h\na = cpu-clock [ns] h\n" + b"# a\n" * 20000, ": it has 64 KiB or more"),
    ("folder", ": it is no file"), ("FIFO", ": it is no file"), ("loop", ": Too many levels of symbolic links"),
])
def test_a_group_file_that_cannot_be_taken(sonde, tmp_path, content, says):
    """Who asks for its group is told of the file: in the error, or in a note where the machine has a PMU that counts."""
    groups, config, path = tmp_path / "groups", tmp_path / "a.ini", tmp_path / "groups" / "a.groups"
    groups.mkdir()
    if content == "folder":
        path.mkdir()
    elif content == "FIFO":
        os.mkfifo(path)
    elif content == "loop":
        path.symlink_to(path)
    else:
        path.write_bytes(content)
    config.write_text(f"[perf_event]\ngroup = mine\ngroup_path = {groups}\n[sink:stdout]\nformat = json\n")
    done = sonde("agent", "-c", config, "--max-frames", "1")
    assert len(done.stderr.splitlines()) <= 1
    assert any(f"{path}{says}" in line and "is left out" in line for line in (done.stderr + done.stdout).splitlines()), done.stderr


def test_all_of_it_in_a_worker(sonde, tmp_path):
    config = tmp_path / "a.ini"
    config.write_text(f"[agent]\ninterval = 50ms\n[perf_event]\nisolation = process\n{SOFT}[sink:stdout]\nformat = json\n")
    done = sonde("agent", "-c", config, "--max-frames", "3")
    assert done.returncode == 0, done.stderr
    assert len(rows(done.stdout, "perf_event_soft")) == 3 * len(os.sched_getaffinity(0))
    assert json.loads(done.stdout.splitlines()[0])


def test_record_counts_the_command(sonde, tmp_path):
    """From its first instruction, where the machine has counters; else the recording says why there are none."""
    recording = tmp_path / "a.sonde"
    done = sonde("record", "-q", "-o", recording, "--", "true")
    assert done.returncode == 0, done.stderr
    found = rows(sonde("cat", "--json", recording).stdout)
    # The command took a moment: its end is seen all the same.
    assert len({row["sequence"] for row in found if row["table"] == "cpu"}) == 2
    counted = [row["values"] for row in found if row["table"] == "perf_event_core_process"]
    said = [row["values"]["text"] for row in found if row["table"] == "note" and row["values"]["instance"] == "perf_event"]
    if counted:
        assert counted[0]["time_enabled"] == 0 and counted[-1]["instructions"] > 1000
    else:
        assert len(said) == 1 and ("no hardware counters" in said[0] or "perf_event_paranoid" in said[0])
