"""Helpers of the benchmark: programs run and watched through /proc, pairs and their spread, the printed table."""

import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SONDE_BUILD", ROOT / "build")).resolve()
OUT = BUILD / "bench"
PAIRS = 11

# The system-wide sample that the figures are of.
SYSTEM = ["cpu", "loadavg", "meminfo", "vmstat", "psi", "disk", "net", "buddyinfo", "thp", "numa"]


class Table:
    """Figures as they come; a target is "at most" (or, with least=True, "at least")."""

    def __init__(self):
        self.missed = self.reached = 0
        print(f"{'figure':<58} {'measured':>12} {'spread':>19}  {'bare':>10}  target")

    def row(self, figure, value, unit="", spread="", bare="", target=None, least=False, text="{:,.4g}"):
        verdict = ""
        if target is not None:
            ok = value >= target if least else value <= target
            verdict = f"{'>=' if least else '<='} {target:,g} {'reached' if ok else 'MISSED'}"
            self.reached += ok
            self.missed += not ok
        shown = (text.format(value) + " " + unit).strip()
        print(f"{figure:<58} {shown:>12} {spread:>19}  {bare:>10}  {verdict}", flush=True)

    def note(self, text):
        print(f"  {text}", flush=True)


def spread(values):
    return f"{min(values):.4g} .. {max(values):.4g}"


def fresh(name):
    """A path under the bench folder where nothing is."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / name
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()
    return path


def configuration(name, interval, collectors, recording, extra=""):
    """An agent's file: these collectors into one recording."""
    path = fresh(f"{name}.ini")
    sections = "".join(f"[{each}]\noptional = yes\n" for each in collectors)
    path.write_text(f"[agent]\ninterval = {interval}\n{sections}{extra}[sink:file]\npath = {recording}\n")
    return path


def run(*command, **options):
    options.setdefault("stdout", subprocess.DEVNULL)
    return subprocess.run([str(word) for word in command], check=True, **options)


def cpu_seconds(*command, **options):
    """User and system time of a program from its start to its end, with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*command, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def user_seconds(*command):
    """User time of a program from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run(*command)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


class Running:
    """A program in the background; ended by its pid at the end of the `with` block."""

    def __init__(self, *command, **options):
        options.setdefault("stdout", subprocess.DEVNULL)
        self.process = subprocess.Popen([str(word) for word in command], **options)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)

    def tasks(self):
        return [Path(f"/proc/{self.pid}/task/{task}") for task in sorted(os.listdir(f"/proc/{self.pid}/task"))]

    def cpu_ns(self):
        """On the CPU so far, all threads: the first number of schedstat."""
        return sum(int((task / "schedstat").read_text().split()[0]) for task in self.tasks())

    def wakeups(self):
        """Voluntary switches of each thread so far."""
        found = {}
        for task in self.tasks():
            status = (task / "status").read_text()
            found[task.name] = int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.M).group(1))
        return found

    def pss_kib(self):
        text = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        return int(re.search(r"^Pss:\s*(\d+)", text, re.M).group(1))


class AgentOf(Running):
    """The process called sonde that has this file among its arguments, in whatever PID namespace; it is not ended here."""

    def __init__(self, config):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if Path(f"/proc/{pid}/comm").read_text() == "sonde\n" and os.fsencode(config) in words:
                    self.pid = int(pid)
                    return
            except OSError:
                continue
        raise OSError(f"no sonde runs with {config}")


def files_of_a_sample(command, samples):
    """What a program reads of /proc and /sys, from strace: {(path, goes on): reads a sample}, start-up left out.

    command(n) is one that takes n samples: the difference of two runs is what samples cost. A read that goes on where the one
    before ended is another thing than one from the start: of most files it makes the kernel tell its end, not the whole file again.
    """

    def reads(n):
        log = fresh(f"strace.{n}")
        run("strace", "-f", "-y", "-qq", "-e", "trace=pread64,read,preadv,readv", "-o", log, *command(n),
            stderr=subprocess.DEVNULL)
        found = re.findall(r"(?:pread64|read|preadv|readv)\(\d+<(/(?:proc|sys)/[^>]*)>(?:.*, (\d+)\) += \d+$)?", log.read_text(),
                           re.M)
        return Counter((re.sub(r"^/proc/\d+/net/", "/proc/self/net/", path), offset not in ("", "0")) for path, offset in found)

    few, many = reads(10), reads(10 + samples)
    return {which: (many[which] - few[which]) / samples for which in many if many[which] > few[which]}


def alternating(ours, bare, pairs=PAIRS):
    """Runs both in turn; returns their values, pair by pair, the order turned round each time."""
    found = []
    for i in range(pairs):
        if i % 2:
            second = bare()
            found.append((ours(), second))
        else:
            first = ours()
            found.append((first, bare()))
    return found


def ratios(pairs):
    return [ours / bare for ours, bare in pairs]


def median(values):
    return statistics.median(values)


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)
