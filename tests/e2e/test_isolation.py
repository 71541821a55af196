"""isolation = process: a plugin that crashes, hangs or has constructors takes nothing with it."""

import ctypes
import os
import signal
import time
from pathlib import Path

import pytest

from compiling import ROOT, environment, shared_object
from live import rows, sanitized

CRASH = ROOT / "tests" / "crash"


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("isolated")
    for name in ("crash_start", "crash_sample", "hang"):
        shared_object(CRASH / f"{name}.c", folder)
    return folder


def start(agent, tmp_path, plugins, sections, interval="50ms"):
    config = tmp_path / "a.ini"
    config.write_text(f"[agent]\ninterval = {interval}\n[loadavg]\n{sections}\n"
                      "[sink:stdout]\nformat = json\nflush = 0s\n")
    return agent("agent", "-c", config, env=environment(plugins))


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] + [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir() if task.name != str(pid)
        for child in (task / "children").read_text().split()]


def gaps(running, instance):
    return [row["values"] for row in rows(running.stdout, "gap") if row["values"]["instance"] == instance]


def test_same_rows(sonde, tmp_path):
    """What a collector says does not depend on where it runs: a captured tree in a worker and in the host."""
    tree = tmp_path / "tree"
    (tree / "proc").mkdir(parents=True)
    (tree / "proc/loadavg").write_text("0.50 1.25 2.75 3/456 7890\n")
    (tree / "proc/meminfo").write_text("MemTotal: 1000 kB\nMemFree: 400 kB\nMemAvailable: 700 kB\n")
    seen = []
    for isolation in ("none", "process", "process:both"):
        config = tmp_path / f"{isolation.replace(':', '-')}.ini"
        config.write_text(f"[agent]\nroot = {tree}\ninterval = 20ms\n[loadavg]\nisolation = {isolation}\n"
                          f"[meminfo]\nisolation = {isolation}\n[sink:stdout]\nformat = json\nflush = 0s\n")
        done = sonde("agent", "-c", config, "--max-frames", "3")
        assert done.returncode == 0, done.stderr
        seen.append({(row["table"], str(row["values"]), row["hash"])
                     for row in rows(done.stdout, "loadavg", "meminfo")})
    assert len(seen[0]) == 2
    assert seen[0] == seen[1] == seen[2]


def test_crash_is_a_gap_and_another_worker(agent, build, tmp_path, plugins, wait_until):
    """The third sample of each worker crashes: rows, a gap that says why, rows again; the others never stop."""
    running = start(agent, tmp_path, plugins, "[crash_sample]\nisolation = process")
    wait_until(lambda: len(rows(running.stdout, "crash_sample")) >= 5, timeout=20)
    assert running.end() == 0, running.stderr
    told = gaps(running, "crash_sample")
    assert told[0]["reason"] == "crashed"
    assert "signal 11" in told[0]["text"] or sanitized(build)
    assert all(row["values"]["bytes"] == 42 for row in rows(running.stdout, "crash_sample"))
    numbers = sorted(row["sequence"] for row in rows(running.stdout, "loadavg"))
    assert len(numbers) > 10


def test_hang_is_ended_at_its_deadline(agent, tmp_path, plugins, wait_until):
    running = start(agent, tmp_path, plugins, "[hang]\nisolation = process\ndeadline = 200ms")
    wait_until(lambda: gaps(running, "hang"), timeout=20)
    wait_until(lambda: len(rows(running.stdout, "hang")) >= 4, timeout=20)
    assert running.end() == 0, running.stderr
    assert "too late" in gaps(running, "hang")[0]["text"]


def test_stop_does_not_wait_for_a_hang(agent, tmp_path, plugins, wait_until):
    """A worker that hangs when the agent stops is ended: a second, status 0, no worker left."""
    running = start(agent, tmp_path, plugins, "[hang]\nisolation = process\ndeadline = 1h")
    wait_until(lambda: len(rows(running.stdout, "hang")) == 2)
    workers = children(running.pid)
    assert len(workers) == 1
    running.send(15)
    assert running.wait(timeout=3) == 0, running.stderr
    wait_until(lambda: not any(os.path.exists(f"/proc/{worker}") for worker in workers))


def test_crash_in_start(sonde, tmp_path, plugins):
    """A sentence, not a crash of sonde; with the others as they are."""
    config = tmp_path / "a.ini"
    config.write_text("[crash_start]\nisolation = process\n[loadavg]\n[sink:stdout]\n")
    done = sonde("agent", "-c", config, "--max-frames", "2", env=environment(plugins))
    assert done.returncode == 1
    assert "[crash_start]: it can't start: its worker was ended by signal" in done.stderr


def test_one_worker_an_instance_or_a_group(agent, tmp_path, plugins, wait_until):
    running = start(agent, tmp_path, plugins,
                    "[meminfo]\nisolation = process\n[vmstat]\nisolation = process:two\n[psi]\nisolation = process:two\noptional = yes")
    wait_until(lambda: len(rows(running.stdout, "vmstat")) >= 2)
    workers = children(running.pid)
    assert len(workers) == 2
    os.kill(workers[0], 9)
    wait_until(lambda: [row for row in rows(running.stdout, "gap") if "signal 9" in row["values"]["text"]])
    wait_until(lambda: len(children(running.pid)) == 2)
    assert running.end() == 0


def test_the_host_dies_and_so_does_the_worker(agent, tmp_path, plugins, wait_until):
    """Even one that hangs in its plugin."""
    running = start(agent, tmp_path, plugins, "[hang]\nisolation = process\ndeadline = 1h")
    wait_until(lambda: len(rows(running.stdout, "hang")) == 2)
    (worker,) = children(running.pid)
    running.process.kill()
    running.wait()

    def gone():
        try:
            return Path(f"/proc/{worker}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True

    wait_until(gone)


def test_mistakes_in_a_worker_have_their_lines(sonde, tmp_path):
    """The plugin is not loaded in the host, yet its keys are checked in the same pass."""
    config = tmp_path / "a.ini"
    config.write_text("[process]\nisolation = process\npidz = 1\n[loadavg]\nintervall = 1s\n[sink:stdout]\n")
    done = sonde("check", "-c", config)
    assert done.returncode == 1
    first, second = done.stderr.splitlines()
    assert f"{config}:3: " in first and "did you mean `pids`?" in first
    assert f"{config}:5: " in second and "did you mean `interval`?" in second


def test_constructors_are_let_in_there(sonde, build, tmp_path):
    """What is refused in the host runs in a worker."""
    if sanitized(build):
        pytest.skip("sanitizers make constructors of their own")
    shared_object(ROOT / "tests" / "e2e" / "plugins" / "early.c", tmp_path)
    config = tmp_path / "a.ini"
    for isolation, status in (("none", 1), ("process", 0)):
        config.write_text(f"[early]\nisolation = {isolation}\n[sink:stdout]\nformat = json\n")
        done = sonde("agent", "-c", config, "--max-frames", "1", env=environment(tmp_path))
        assert done.returncode == status, done.stderr
    assert [row["values"]["answer"] for row in rows(done.stdout, "early")] == [42]


def cpu_us(pid):
    """utime and stime, proc_pid_stat(5); to a tick."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000000 // os.sysconf("SC_CLK_TCK")


def test_self_counts_workers_while_they_live(agent, tmp_path, wait_until):
    """And goes on counting where one is replaced: what the kernel says of all of them lies around what sonde says."""
    shared_object(ROOT / "tests/e2e/plugins/busy.c", tmp_path / "plugins")
    running = start(agent, tmp_path, tmp_path / "plugins", "[busy]\nisolation = process\n[self]")

    def told():
        return [row["values"]["cpu_user"] + row["values"]["cpu_system"] for row in rows(running.stdout, "self")]

    def look(before_it):
        (worker,) = children(running.pid)
        least = before_it + cpu_us(worker) + cpu_us(running.pid)
        seen = len(told())
        wait_until(lambda: len(told()) > seen + 1)
        value = told()[-1]
        most = before_it + cpu_us(worker) + cpu_us(running.pid)
        assert least - 20000 <= value <= most + 40000
        return worker, most

    wait_until(lambda: len(rows(running.stdout, "busy")) > 10)
    worker, spent = look(0)
    assert cpu_us(worker) > 150000
    os.kill(worker, signal.SIGSTOP)
    own = cpu_us(worker)
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: [child for child in children(running.pid) if child != worker])
    wait_until(lambda: len(rows(running.stdout, "busy")) > 30)
    look(own)
    assert running.end() == 0, running.stderr
    values = told()
    assert values == sorted(values)


PTRACE_SEIZE = 0x4206


def test_a_worker_that_does_not_die(agent, tmp_path, plugins, wait_until):
    """As in uninterruptible sleep, SIGKILL does not make it go: the process that traces it is told of its end, its parent not
    (ptrace(2)). It is told as stuck, there is never a second one beside it, and when it has gone there is another."""
    running = start(agent, tmp_path, plugins, "[hang]\nisolation = process\ndeadline = 500ms")
    wait_until(lambda: len(rows(running.stdout, "hang")) == 2)
    (worker,) = children(running.pid)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(PTRACE_SEIZE, worker, None, None):
        pytest.skip(f"tracing is not permitted: {os.strerror(ctypes.get_errno())}")
    (gap,) = wait_until(lambda: gaps(running, "hang"))
    assert gap["reason"] == "stuck"
    assert gap["text"] == f"its worker {worker} does not die: it hangs in the kernel"
    before = len(rows(running.stdout, "loadavg"))
    wait_until(lambda: len(rows(running.stdout, "loadavg")) > before + 20)
    assert children(running.pid) == [worker]
    assert len(rows(running.stdout, "hang")) == 2
    os.waitpid(worker, 0)
    wait_until(lambda: len(rows(running.stdout, "hang")) >= 4)
    assert worker not in children(running.pid)
    running.send(15)
    assert running.wait(timeout=3) == 0, running.stderr


def test_what_is_gone_at_a_restart_comes_back(agent, tmp_path, wait_until):
    """A worker ends while its device is away: its start is tried again, and there are rows again when it is back."""
    tree = tmp_path / "tree"
    (tree / "proc").mkdir(parents=True)
    loadavg = tree / "proc/loadavg"
    loadavg.write_text("0.50 1.25 2.75 3/456 7890\n")
    (tree / "proc/meminfo").write_text("MemTotal: 1000 kB\nMemFree: 400 kB\nMemAvailable: 700 kB\n")
    config = tmp_path / "a.ini"
    config.write_text(f"[agent]\nroot = {tree}\ninterval = 20ms\n[loadavg]\nisolation = process:one\n"
                      "[meminfo]\nisolation = process:one\n[sink:stdout]\nformat = json\nflush = 0s\n")
    running = agent("agent", "-c", config)
    wait_until(lambda: rows(running.stdout, "loadavg"))
    loadavg.unlink()
    (worker,) = children(running.pid)
    os.kill(worker, 9)
    wait_until(lambda: "sample failed: no /proc/loadavg" in running.stderr, timeout=20)
    seen = len(rows(running.stdout, "meminfo"))
    wait_until(lambda: len(rows(running.stdout, "meminfo")) > seen + 3)
    seen = len(rows(running.stdout, "loadavg"))
    time.sleep(0.1)
    assert len(rows(running.stdout, "loadavg")) == seen
    loadavg.write_text("0.75 1.25 2.75 3/456 7890\n")
    wait_until(lambda: len(rows(running.stdout, "loadavg")) > seen + 3)
    assert running.end() == 0, running.stderr


def test_a_reload_adds_to_a_group_that_is_sampled(agent, tmp_path, wait_until):
    """The new section's plugin comes into the worker between two samples of the others, not in the middle of one."""
    config = tmp_path / "a.ini"
    base = "[agent]\ninterval = 1ms\n[meminfo]\nisolation = process:one\n[vmstat]\nisolation = process:one\n"
    sink = "[sink:stdout]\nformat = json\nflush = 0s\ntables = loadavg, mem*\nkinds = data, gaps, config\n"
    config.write_text(base + sink)
    running = agent("agent", "-c", config)
    wait_until(lambda: rows(running.stdout, "meminfo"))
    for turn in range(12):
        label = f" n{turn}" if turn % 2 else ""
        config.write_text(base + f"[loadavg{label}]\nisolation = process:one\n" + sink)
        running.send(signal.SIGHUP)
        wait_until(lambda: len(rows(running.stdout, "config")) == turn + 1)
    wait_until(lambda: {row["instance"] for row in rows(running.stdout, "loadavg")} >= {"loadavg n1", "loadavg n11"})
    assert running.end() == 0, running.stderr
    assert [row["values"] for row in rows(running.stdout, "gap") if row["values"]["reason"] != "missed"] == []
    assert len(rows(running.stdout, "meminfo")) > 50
