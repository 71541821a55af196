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


def files_of_a_sample(command, samples):
    """What a program reads of /proc and /sys, from strace: {path: reads a sample}, start-up left out.

    command(n) is one that takes n samples: the difference of two runs is what samples cost.
    """

    def reads(n):
        log = fresh(f"strace.{n}")
        run("strace", "-f", "-y", "-qq", "-e", "trace=pread64,read,preadv,readv", "-o", log, *command(n),
            stderr=subprocess.DEVNULL)
        found = re.findall(r"(?:pread64|read|preadv|readv)\(\d+<(/(?:proc|sys)/[^>]*)>", log.read_text())
        return Counter(re.sub(r"^/proc/\d+/net/", "/proc/self/net/", path) for path in found)

    few, many = reads(10), reads(10 + samples)
    return {path: (many[path] - few[path]) / samples for path in many if many[path] > few[path]}


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
