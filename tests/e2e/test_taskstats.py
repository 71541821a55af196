"""The collector taskstats: the real kernel's records beside what wait4(2) and /proc say of the same processes."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

BUSY = (
    "import os, sys, threading, time\n"
    "def work(seconds):\n"
    "    end = time.thread_time() + seconds\n"
    "    while time.thread_time() < end: pass\n"
    "threads = [threading.Thread(target=work, args=(0.05,)) for _ in range(int(sys.argv[1]))]\n"
    "for thread in threads: thread.start()\n"
    "work(0.05)\n"
    "for thread in threads: thread.join()\n"
    "sys.exit(3)\n"
)


@pytest.fixture
def recording(agent, sonde, tmp_path, wait_until, caught_up):
    """Starts an agent with this section, does something, and returns the rows of what was recorded."""

    def record(options, doing, **how):
        config, path = tmp_path / "a.ini", tmp_path / "a.sonde"
        config.write_text(f"[agent]\ninterval = 50ms\n[taskstats]\n{options}\n[sink:file]\npath = {path}\nflush = 50ms\n")
        running = agent("agent", "-c", config, **how)
        wait_until(lambda: path.exists() and path.stat().st_size or not running.running())
        if not running.running() and "CAP_NET_ADMIN" in running.stderr + running.stdout:
            pytest.skip("taskstats needs CAP_NET_ADMIN")
        done = doing(running)
        caught_up(path, "taskstats")
        assert running.end() == 0, running.stderr
        return done, [json.loads(line) for line in sonde("cat", "--json", path).stdout.splitlines()]

    return record


def values(rows, table, **keys):
    return [dict(row["values"], **row["keys"]) for row in rows
            if row["table"] == table and keys.items() <= dict(row["values"], **row["keys"]).items()]


def spawn(threads):
    """A process that works in so many threads beside its first, and what the kernel says of it when it ended."""
    child = subprocess.Popen([sys.executable, "-S", "-c", BUSY, str(threads)])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.pid, status, usage


def test_a_short_life(recording):
    (pid, status, usage), rows = recording("pids = 1", lambda agent: spawn(0))
    (end,) = values(rows, "task_exit", pid=pid)
    assert (end["exitcode"], end["tgid"], end["ppid"], end["uid"]) == (status, pid, os.getpid(), os.getuid())
    assert status == 3 << 8 and end["group"] == 0 and end["flag"] & 32
    assert end["minflt"] == usage.ru_minflt and end["hiwater_rss"] <= usage.ru_maxrss
    assert (end["nvcsw"], end["nivcsw"]) == pytest.approx((usage.ru_nvcsw, usage.ru_nivcsw), abs=2)
    used = (usage.ru_utime + usage.ru_stime) * 1e6
    assert end["utime"] + end["stime"] == pytest.approx(used, rel=0.2, abs=20000)
    assert end["cpu_run_virtual_total"] >= 50_000_000 and end["etime"] >= 50_000


def test_threads_of_a_process_end_together(recording):
    (pid, status, usage), rows = recording("pids = 1", lambda agent: spawn(2))
    ends = values(rows, "task_exit", tgid=pid)
    assert sorted(end["group"] for end in ends) == [0, 0, 0, 1]
    (group,) = [end for end in ends if end["group"]]
    each = sum(end["cpu_run_virtual_total"] for end in ends if not end["group"])
    assert 150_000_000 <= each <= group["cpu_run_virtual_total"] + 1_000_000 <= each + 20_000_000
    assert "utime" not in group and group["pid"] == pid


def test_what_lives(recording, background):
    """Its run-queue wait and CPU time are those of schedstat, before and after: of a process that never had a second thread, since
    those of the dead are in its sums, and not in what schedstat says of the leader."""
    pid = background("sh", "-c", "while :; do :; done").pid

    def sched():
        return [int(word) for word in Path(f"/proc/{pid}/schedstat").read_text().split()]

    before, rows = recording(f"pids = {pid}\nexits = no", lambda agent: sched())
    after = sched()
    found = values(rows, "taskstats", pid=pid)
    assert found and not values(rows, "task_exit")
    assert all(row["start_time"] == int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]) for row in found)
    assert before[1] <= found[-1]["cpu_delay_total"]
    assert found[-1]["cpu_delay_total"] <= after[1]
    assert 0 < found[-1]["cpu_run_virtual_total"] <= after[0]
    counted = Path("/proc/sys/kernel/task_delayacct")
    on = not counted.exists() or counted.read_text().strip() != "0"
    assert ("blkio_delay_total" in found[-1]) == on
    assert any("kernel.task_delayacct=1" in row["text"] for row in values(rows, "note")) != on


def test_all_processes(recording):
    _, rows = recording("", lambda agent: None)
    assert {1, os.getpid()} <= {row["pid"] for row in values(rows, "taskstats")}


def test_capture_needs_no_socket(recording, sonde, tmp_path):
    """The same rows from the bytes of then, for an ordinary user too."""
    recording("pids = 1\ncapture = raw", lambda agent: spawn(0))
    done = sonde("reparse", tmp_path / "a.sonde", "-o", tmp_path / "b.sonde")
    assert done.returncode == 0, done.stderr
    old, new = (sonde("cat", "--json", tmp_path / name, "-t", "taskstats", "-t", "task_exit").stdout
                for name in ("a.sonde", "b.sonde"))
    assert old.count("\n") > 2 and "task_exit" in old
    assert new == old


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_an_ordinary_user_is_told(sonde):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        config = Path(folder) / "a.ini"
        for optional, status in (("no", 1), ("yes", 0)):
            config.write_text(f"[taskstats]\noptional = {optional}\n[loadavg]\n[sink:stdout]\nformat = json\n")
            done = sonde("agent", "-c", config, "--max-frames", 1, user=65534, group=65534, extra_groups=[])
            assert done.returncode == status
            assert "CAP_NET_ADMIN" in done.stdout + done.stderr
