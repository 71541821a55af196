"""make bench: what sonde costs, beside the bare minimum, which is one pread a file on a kept descriptor with a warm buffer.

Both sides read the same files the same number of times, counted by strace. Figures are medians of 11 alternating pairs of
one run. `bench.py NAME...` measures only these; SECONDS is the length of each paced measurement (600 for the issue's ten
minutes of a quiet machine).
"""

import json
import os
import re
import signal
import subprocess
import sys
import time

from measure import (BUILD, OUT, PAIRS, ROOT, SYSTEM, Running, Table, alternating, configuration, cpu_seconds,
                     files_of_a_sample, fresh, median, now, ratios, run, spread)

SONDE = BUILD / "sonde"
BARE = OUT / "bare"
SECONDS = int(os.environ.get("SECONDS", 110))
SAMPLES = 2000
FASTEST, FASTEST_US = "1ms", 1000  # the shortest interval that an agent takes; the bare program keeps it too
table = Table()


def agent(interval, n, collectors=SYSTEM, extra=""):
    recording = fresh("bench.sonde")
    return [SONDE, "agent", "-c", configuration("bench", interval, collectors, recording, extra), "--max-frames", n]


def file_list(collectors, extra=""):
    """The files of a sample, as the bare program takes them: a path as often as it is read."""
    counts = files_of_a_sample(lambda n: agent("10ms", n, collectors, extra), 50)
    path = fresh("files")
    path.write_text("".join(f"{name}\n" * round(count) for name, count in sorted(counts.items())))
    return path, sum(counts.values()), sum(round(count) for count in counts.values())


def back_to_back():
    """User and system time of the whole process for a sample, a thousand of them a second."""
    files, reads, bare_reads = file_list(SYSTEM)
    table.note(f"a system-wide sample reads {reads:.2f} times, the bare program {bare_reads} (strace)")
    idle = median([cpu_seconds(*agent(FASTEST, 1)) for _ in range(5)])
    bare_idle = median([cpu_seconds(BARE, files, 1) for _ in range(5)])
    pairs = alternating(
        lambda: (cpu_seconds(*agent(FASTEST, SAMPLES)) - idle) / SAMPLES * 1e6,
        lambda: (cpu_seconds(BARE, files, SAMPLES, FASTEST_US) - bare_idle) / SAMPLES * 1e6)
    found = ratios(pairs)
    table.row("CPU of a system-wide sample, 1,000 a second, over bare reads", median(found), "x", spread(found),
              f"{median([b for _, b in pairs]):.1f} us", target=1.25)
    table.row("  the same in time", median([a for a, _ in pairs]), "us", spread([a for a, _ in pairs]))


def instructions():
    """Callgrind's count does not vary: instructions in user space a value, of sonde and of the bare reads."""
    files, _, _ = file_list(SYSTEM)

    def count(*command):
        out = fresh("callgrind.out")
        run("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command, stderr=subprocess.DEVNULL)
        return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M).group(1))

    values = values_of_a_sample()
    # Slow enough that no tick is missed, each of which would be written.
    ours = (count(*agent("100ms", 70)) - count(*agent("100ms", 20))) / 50
    bare = (count(BARE, files, 70) - count(BARE, files, 20)) / 50
    table.row("instructions a value, from text to disk (callgrind)", ours / values, "", "", f"{bare / values:.2f}")
    table.note(f"{values} values a sample")


def values_of_a_sample():
    """Every value that stands in one instant of a recording, keys not counted."""
    run(*agent(FASTEST, 3))
    per_sequence = {}
    text = subprocess.run([SONDE, "cat", "--json", OUT / "bench.sonde"], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        row = json.loads(line)
        per_sequence.setdefault(row["sequence"], 0)
        per_sequence[row["sequence"]] += len(row["values"])
    return max(per_sequence.values())


def paced(name, interval_us, target_ratio, target_bytes):
    """Both run at once, half a period apart, so that each pair of windows sees the same machine."""
    files, _, _ = file_list(SYSTEM)
    recording = fresh(f"paced-{name}.sonde")
    config = configuration(f"paced-{name}", f"{interval_us}us", SYSTEM, recording)
    window = max(SECONDS / PAIRS, 2 * interval_us / 1e6)
    with Running(SONDE, "agent", "-c", config) as ours:
        time.sleep(0.02 + interval_us / 2e6)
        with Running(BARE, files, 0, interval_us) as other:
            time.sleep(5)
            pairs = []
            size = recording.stat().st_size
            begin = now()
            for _ in range(PAIRS):
                a, b = ours.cpu_ns(), other.cpu_ns()
                time.sleep(window)
                pairs.append((ours.cpu_ns() - a, other.cpu_ns() - b))
            samples = (now() - begin) * 1e6 / interval_us
            written = recording.stat().st_size - size
            pss = ours.pss_kib()
    found = ratios(pairs)
    per_window = window * 1e6 / interval_us
    table.row(f"CPU of a system-wide sample at {name}, over bare reads", median(found), "x", spread(found),
              f"{median([b for _, b in pairs]) / per_window / 1e3:.1f} us", target=target_ratio)
    table.row("  the same in time", median([a for a, _ in pairs]) / per_window / 1e3, "us")
    table.row(f"bytes of a sample on disk at {name}, {samples:.0f} samples", written / samples, "", target=target_bytes)
    table.row(f"PSS of this agent at {name}", pss, "KiB")


def paced_10hz():
    paced("10 Hz", 100000, 1.35, 120)


def paced_1hz():
    paced("1 Hz", 1000000, 1.35, 260)


ALL = SYSTEM + ["schedstat", "process", "self"]


def memory():
    """PSS of an agent with every collector, and whether a day's samples make it grow."""
    config = configuration("memory", "1s", ALL, fresh("memory.sonde"))
    with Running(SONDE, "agent", "-c", config) as ours:
        time.sleep(12)
        table.row("PSS of an agent with all collectors at 1 Hz", ours.pss_kib() / 1024, "MiB", target=4)
    recording = fresh("day.sonde")
    config = configuration("day", FASTEST, ALL, recording)
    with Running(SONDE, "agent", "-c", config, "--max-frames", 86400) as ours:
        time.sleep(3)
        first = last = ours.pss_kib()
        while ours.process.poll() is None:
            try:
                last = ours.pss_kib()
            except (OSError, AttributeError):
                break
            time.sleep(0.5)
    table.row("  growth over 86,400 samples back to back", last - first, "KiB", target=64)
    recording.unlink()


def allocations():
    """Over 1,000 ticks, ten seconds after the start, with processes coming and going."""
    found = fresh("allocations.txt")
    config = configuration("allocations", "10ms", ALL, fresh("allocations.sonde"))
    watched = fresh("allocations.watched")
    environment = dict(os.environ, LD_PRELOAD=str(OUT / "allocations.so"), ALLOCATIONS_FILE=str(found),
                       ALLOCATIONS_WHILE=str(watched))
    trace = fresh("allocations.strace")
    with Running(SONDE, "agent", "-c", config, env=environment) as ours:
        begin = now()
        tracer = None
        while now() - begin < 22:
            subprocess.run(["sleep", "0.03"])
            if tracer is None and now() - begin > 10:
                watched.touch()
                tracer = subprocess.Popen(["strace", "-f", "-qq", "-e", "trace=mmap,mremap,brk", "-o", str(trace), "-p",
                                           str(ours.pid)], stderr=subprocess.DEVNULL)
        watched.unlink()
        tracer.terminate()
        tracer.wait()
    lines = found.read_text().splitlines()
    table.row("malloc, calloc, realloc in 1,100 ticks after 10 s", int(lines[0]), target=0)
    for line in lines[1:9]:
        table.note(line)
    calls = re.findall(r"(?:mmap|mremap|brk)\(", trace.read_text())
    table.row("mmap, mremap, brk in them", len(calls), target=0)


def wakeups():
    """Voluntary switches a tick: one in the main lane; a file sink's thread one a flush, which is every 2 s."""
    config = configuration("wakeups", "100ms", SYSTEM, fresh("wakeups.sonde"))
    with Running(SONDE, "agent", "-c", config) as ours:
        time.sleep(5)
        before = ours.wakeups()
        time.sleep(20)
        after = ours.wakeups()
    rates = sorted(((after[t] - before[t]) / 20 for t in after if t in before), reverse=True)
    table.row("wake-ups a tick of the busiest thread (main lane), at 10 Hz", rates[0] / 10, target=1.05)
    if len(rates) > 1:
        table.row("wake-ups a flush of the next thread (file sink)", rates[1] * 2, target=1.15)
    table.note("a second, by thread: " + ", ".join(f"{rate:.2f}" for rate in rates))


def reading():
    """One core, from a recording of this machine and its processes at work."""
    recording = fresh("reading.sonde")
    config = configuration("reading", "10ms", ALL, recording)
    with Running(ROOT / "tests/run/workload.sh", BUILD / "workload", 0, 20, fresh("reading.workload")):
        run(SONDE, "agent", "-c", config, "--max-frames", 1500)
    counted = subprocess.run([OUT / "count", recording], check=True, capture_output=True, text=True).stdout
    changed = int(counted.split()[0])
    table.note(f"the reader alone: {counted.strip()}")
    short = fresh("short.sonde")
    run(SONDE, "agent", "-c", configuration("short", "10ms", ALL, short), "--max-frames", 2)
    idle = median([cpu_seconds(SONDE, "report", short) for _ in range(5)])
    times = [cpu_seconds(SONDE, "report", recording) - idle for _ in range(5)]
    table.row("report: changed values a second", changed / median(times) / 1e6, "M/s",
              spread([changed / t / 1e6 for t in times]), target=30, least=True)
    for form in ("--json", "--csv"):
        size = len(subprocess.run([SONDE, "cat", form, recording], check=True, capture_output=True).stdout)
        times = [cpu_seconds(SONDE, "cat", form, recording) for _ in range(5)]
        table.row(f"cat {form}: text a second", size / median(times) / 1e6, "MB/s",
                  spread([size / t / 1e6 for t in times]), target=200, least=True)
    recording.unlink()


def overhead():
    """psi's sample() less its parse, the text in memory."""
    value, least, most, sample, parse = map(float, subprocess.run([OUT / "psi"], check=True, capture_output=True).stdout.split())
    table.row("a collector's own overhead a value: psi's sample() less parse", value, "ns", f"{least:.3g} .. {most:.3g}", target=1)
    table.note(f"sample() {sample:.2f} ns a value, parse {parse:.2f}")


def parsing():
    """What stands between a collector's reads and its rows: sample() on texts in memory."""
    found = [subprocess.run([OUT / "collector", BUILD / "plugins" / f"collector-{name}.so"], check=True, capture_output=True,
                            text=True).stdout.split() for name in SYSTEM]
    values, ns = sum(int(words[1]) for words in found), sum(float(words[3]) for words in found)
    table.row("a system-wide sample without its reads: parse and rows", ns / 1000, "us")
    table.note(f"{ns / values:.2f} ns a value; " + ", ".join(f"{words[0]} {float(words[7]):.1f}" for words in found))


def processes():
    """stat, status, schedstat and io of so many processes, with the same descriptors kept on both sides."""
    for count in (50, 500, 2000):
        text = subprocess.run([OUT / "process", str(count)], check=True, capture_output=True).stdout
        ratio, least, most, ours, bare, there, values = map(float, text.split())
        table.row(f"CPU of a sample of {there:.0f} processes over bare reads, {values:.0f} values each", ratio, "x",
                  f"{least:.4g} .. {most:.4g}", f"{bare:.1f} us", target=1.3)
        table.row("  the same in time, a process", ours, "us")


def start():
    """From exec to the first bytes of the first sample on stdout."""
    config = fresh("start.ini")
    sections = "".join(f"[{each}]\noptional = yes\n" for each in ALL)
    config.write_text(f"[agent]\ninterval = 1s\n{sections}[sink:stdout]\nformat = json\nflush = 0s\n")
    times = []
    for _ in range(PAIRS):
        begin = now()
        process = subprocess.Popen([SONDE, "agent", "-c", config], stdout=subprocess.PIPE)
        process.stdout.read(1)
        times.append((now() - begin) * 1e3)
        process.terminate()
        process.stdout.read()
        process.wait()
    table.row("start of an agent with all collectors to its first row", median(times), "ms", spread(times), target=20)


FIGURES = [back_to_back, instructions, paced_10hz, paced_1hz, memory, allocations, wakeups, overhead, parsing, processes, reading, start]


def main():
    # Whatever runs in the background is ended on the way out.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    chosen = sys.argv[1:] or [figure.__name__ for figure in FIGURES]
    with open("/proc/cpuinfo") as text:
        model = re.search(r"model name\s*: (.*)", text.read())
    processes = sum(name.isdigit() for name in os.listdir("/proc"))
    table.note(f"{os.cpu_count()} CPUs ({model.group(1) if model else '?'}), {processes} processes, "
               f"load {os.getloadavg()[0]:.2f}")
    for figure in FIGURES:
        if figure.__name__ in chosen:
            try:
                figure()
            except (subprocess.CalledProcessError, OSError, ValueError, IndexError) as error:
                table.missed += 1
                table.note(f"{figure.__name__}: not measured: {error}")
    print(f"bench: {table.reached} targets reached, {table.missed} missed")


if __name__ == "__main__":
    main()
