"""make bench: what sonde costs, beside the bare minimum: the same preads on kept descriptors into a warm buffer.

Both sides read the same files the same number of times, from the start or going on, counted by strace. Figures are medians of 11
alternating pairs of one run. `bench.py NAME...` measures only these; SECONDS is the length of each paced measurement (600 for the issue's ten
minutes of a quiet machine).
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from measure import (BUILD, OUT, PAIRS, ROOT, SYSTEM, AgentOf, Running, Table, alternating, configuration, cpu_seconds,
                     files_of_a_sample, fresh, median, now, ratios, run, spread, user_seconds)

sys.path.insert(0, str(ROOT / "tests/generate"))
import machine  # noqa: E402

SONDE = BUILD / "sonde"
BARE = OUT / "bare"
SECONDS = int(os.environ.get("SECONDS", 110))
SAMPLES = 2000
INSTANTS = 1500  # of the recording that is read
FASTEST, FASTEST_US = "1ms", 1000  # the shortest interval that an agent takes; the bare program keeps it too
table = Table()


def agent(interval, n, collectors=SYSTEM, extra=""):
    recording = fresh("bench.sonde")
    return [SONDE, "agent", "-c", configuration("bench", interval, collectors, recording, extra), "--max-frames", n]


def file_list(collectors, extra=""):
    """The files of a sample, as the bare program takes them: a path as often as it is read, "+" where a read goes on."""
    counts = files_of_a_sample(lambda n: agent("10ms", n, collectors, extra), 50)
    path = fresh("files")
    path.write_text("".join(f"{'+' if goes_on else ''}{name}\n" * round(count)
                            for (name, goes_on), count in sorted(counts.items())))
    return path, sum(counts.values()), sum(round(count) for count in counts.values())


def back_to_back():
    """User and system time of the whole process for a sample, a thousand of them a second. Both sides sleep from tick to tick and
    leave out ticks that they are late for; what a missed one costs sonde, a gap written, is part of its side."""
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
    table.note(f"{missed_ticks(OUT / 'bench.sonde') // len(SYSTEM)} ticks missed in the last of these {SAMPLES} samples")


def counted(*command):
    """Instructions in user space of a whole run."""
    out = fresh("callgrind.out")
    run("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command, stderr=subprocess.DEVNULL)
    return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M).group(1))


def instructions():
    """Callgrind's count does not vary: instructions in user space a value, of sonde and of the bare reads."""
    files, _, _ = file_list(SYSTEM)

    values = values_of_a_sample()
    # Slow enough that no tick is missed, each of which would be written.
    ours = (counted(*agent("100ms", 70)) - counted(*agent("100ms", 20))) / 50
    bare = (counted(BARE, files, 70) - counted(BARE, files, 20)) / 50
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


# Whose cost is that of reading a few files again and again; process, numa_maps, smaps and perf_event have figures of their own.
EACH = SYSTEM + ["schedstat", "cgroup", "irq"]
ALL = SYSTEM + ["schedstat", "cgroup", "irq", "process", "self"]


# What looks at each process and cgroup, and [self] at each instance, takes longer than the shortest interval.
SLOW = ["cgroup", "numa_maps", "outsiders", "process", "self", "smaps", "taskstats", "thp"]


def every(slow=""):
    """Sections of all collectors that are built, with this line in those that are SLOW; of those that want to be told what, something
    that any machine has."""
    told = {"perf_event": "group = soft = {task-clock,page-faults,context-switches}\n", "text": "file = /proc/uptime\nformat = verbatim\n"}
    names = sorted(path.stem.removeprefix("collector-") for path in (BUILD / "plugins").glob("collector-*.so"))
    lines = {name: told.get(name, "") + (slow if name in SLOW else "") for name in [*names, "self"]}
    return names, "".join(f"[{name}]\noptional = yes\n{more}" for name, more in lines.items())


def memory():
    """PSS of an agent with every collector, and whether a day's samples make it grow: as many ticks of 1 ms, or of what the machine
    needs for one, in which what is SLOW has its turn ten times a second."""
    names, sections = every()
    config = configuration("memory", "1s", [], fresh("memory.sonde"), sections)
    with Running(SONDE, "agent", "-c", config) as ours:
        time.sleep(12)
        table.row(f"PSS of an agent with all {len(names) + 1} collectors at 1 Hz", ours.pss_kib() / 1024, "MiB", target=4)
    recording = fresh("day.sonde")
    config = configuration("day", FASTEST, [], recording, every("interval = 100ms\n")[1])
    # Among processes that stay the same: what new ones need is no growth.
    alone = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child=SIGTERM"]
    with Running(*alone, SONDE, "agent", "-c", config, "--max-frames", 86400) as whole:
        time.sleep(10)  # as long as a host may allocate
        ours = AgentOf(config)
        first = last = ours.pss_kib()
        while whole.process.poll() is None:
            try:
                last = ours.pss_kib()
            except (OSError, AttributeError):
                break
            time.sleep(0.5)
        if whole.process.wait():
            raise OSError(f"the agent ended with {whole.process.returncode}")
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


def missed_ticks(recording):
    """Instants that a recording says are missing: each would be a gap to be read."""
    rows = subprocess.run([SONDE, "cat", "--json", "--table", "gap", recording], check=True, capture_output=True, text=True).stdout
    return sum(json.loads(row)["values"].get("lost", 0) for row in rows.splitlines())


def recorded(beside):
    """Of this machine, as fast as it is taken without a missed tick, `beside` a program that is ended with it; what it holds."""
    recording = fresh("reading.sonde")
    for interval in (10, 20, 50, 100, 200):
        config = configuration("reading", f"{interval}ms", ALL, fresh("reading.sonde"))
        with Running(*beside, stdin=subprocess.PIPE):
            run(SONDE, "agent", "-c", config, "--max-frames", INSTANTS)
        if not missed_ticks(recording):
            break
    else:
        raise ValueError("ticks are missed at every interval: other work has the CPUs")
    said = subprocess.run([OUT / "count", recording], check=True, capture_output=True, text=True).stdout.strip()
    changed, instants = (int(words.split()[0]) for words in said.split(", ")[:2])
    table.note(f"recorded every {interval} ms, no tick missed: {changed / instants:.0f} changed values an instant; the reader alone: {said}")
    return recording, changed


def reading():
    """One core, from recordings of this machine at rest and of 200 processes at work; what a report of two instants takes is taken off."""
    short = fresh("short.sonde")
    run(SONDE, "agent", "-c", configuration("short", "10ms", ALL, short), "--max-frames", 2)
    for what, beside in ("at rest", ["sleep", "infinity"]), ("200 at work", [OUT / "crowd", 200, 200]):
        recording, changed = recorded(beside)
        pairs = [(cpu_seconds(SONDE, "report", recording), cpu_seconds(SONDE, "report", short)) for _ in range(PAIRS)]
        rates = [changed / (whole - idle) / 1e6 for whole, idle in pairs]
        each = (counted(SONDE, "report", recording) - counted(SONDE, "report", short)) / changed
        reader = counted(OUT / "count", recording) / changed
        table.row(f"report: changed values a second, {what}", median(rates), "M/s", spread(rates), target=30, least=True)
        table.row("  instructions a changed value (callgrind)", each, "", "", f"reader {reader:.0f}")
    for form in ("--json", "--csv"):
        size = len(subprocess.run([SONDE, "cat", form, recording], check=True, capture_output=True).stdout)
        rates = [size / cpu_seconds(SONDE, "cat", form, recording) / 1e6 for _ in range(PAIRS)]
        table.row(f"cat {form}: text a second", median(rates), "MB/s", spread(rates), target=200, least=True)
    recording.unlink()


def day():
    """A report of a day at 1 Hz, from a minute that is told again and again, beside what decompresses it and counts its bytes."""
    recorded_minute, recording = fresh("minute.sonde"), fresh("day.sonde")
    run(SONDE, "agent", "-c", configuration("minute", "1s", SYSTEM, recorded_minute), "--max-frames", 61)
    with open(recording, "wb") as whole:
        run(OUT / "day", recorded_minute, 86400, stdout=whole)
    pairs = alternating(lambda: cpu_seconds(SONDE, "report", recording),
                        lambda: cpu_seconds("sh", "-c", 'lz4 -dc "$0" | wc -c', recording))
    found = ratios(pairs)
    table.row("CPU of a report of a day at 1 Hz over lz4 -dc FILE | wc -c", median(found), "x", spread(found),
              f"{median([bare for _, bare in pairs]) * 1e3:.0f} ms", target=10)
    said = subprocess.run([OUT / "count", recording], check=True, capture_output=True, text=True).stdout.strip()
    table.note(f"{recording.stat().st_size >> 20} MiB; the reader alone: {said}")
    recording.unlink()


def overhead():
    """psi's sample() less its parse, the text in memory."""
    value, least, most, sample, parse = map(float, subprocess.run([OUT / "psi"], check=True, capture_output=True).stdout.split())
    values = int(subprocess.run([OUT / "psi", "parse"], check=True, capture_output=True).stdout)
    each = (counted(OUT / "psi", "sample") - counted(OUT / "psi", "parse")) / values
    table.row("a collector's own overhead a value: psi's sample() less parse", value, "ns", f"{least:.3g} .. {most:.3g}", target=1)
    table.row("  instructions a value (callgrind)", each)
    table.note(f"sample() {sample:.2f} ns a value, parse {parse:.2f}; the spread is quartiles of 201 pairs")


def parsing():
    """What stands between a collector's reads and its rows: sample() on texts in memory."""
    found = [subprocess.run([OUT / "collector", BUILD / "plugins" / f"collector-{name}.so"], check=True, capture_output=True,
                            text=True).stdout.split() for name in SYSTEM]
    values, ns = sum(int(words[1]) for words in found), sum(float(words[3]) for words in found)
    table.row("a system-wide sample without its reads: parse and rows", ns / 1000, "us")
    table.note(f"{ns / values:.2f} ns a value; " + ", ".join(f"{words[0]} {float(words[7]):.1f}" for words in found))


def collectors():
    """Each by itself, with the host's file service and arena: sample() beside one pread of each of its files."""
    for name in EACH:
        done = subprocess.run([OUT / "live", BUILD / "plugins" / f"collector-{name}.so"], capture_output=True, text=True)
        if done.returncode == 77:
            table.note(f"{name} is not here: {done.stderr.strip()}")
            continue
        done.check_returncode()
        values, files, ratio, least, most, ours, bare = done.stdout.split()[1:]
        table.row(f"CPU of a sample of {name}, {values} values of {files} files, over bare reads", float(ratio), "x",
                  f"{least} .. {most}", f"{bare} us", target=1.3)


def processes():
    """stat, status, schedstat and io of so many processes, with as many descriptors kept on both sides; the others are opened and closed."""
    for count in (50, 500, 2000, 20000):
        text = subprocess.run([OUT / "process", str(count)], check=True, capture_output=True).stdout
        ratio, least, most, ours, bare, there, values = map(float, text.split())
        table.row(f"CPU of a sample of {there:.0f} processes over bare reads, {values:.0f} values each", ratio, "x",
                  f"{least:.4g} .. {most:.4g}", f"{bare:.1f} us", target=1.3)
        table.row("  the same in time, a process", ours, "us")


def iterator():
    """All tasks by BPF, to the row in the arena; and the memory that a task more needs."""
    found = []
    for count in (2000, 20000):
        text = subprocess.run([OUT / "process", str(count), "bpf", "50"], check=True, capture_output=True, text=True).stdout
        found.append([float(word) for word in text.split()])
        cost, there = found[-1][:2]
        table.row(f"CPU of a sample of {there:.0f} processes by BPF, a process", cost, "us", target=0.5)
    (_, few, *little), (_, many, *much) = found
    own, slab = ((b - a) / (many - few) for a, b in zip(little, much))
    table.row("  the collector's memory, a process more", own, "KiB", target=1)
    table.note(f"the kernel's slab meanwhile: {slab:.2f} KiB a process more, itself included")


def crowd():
    """10,000 processes of which 200 work, at 10 Hz, in a PID namespace where nobody else is; memory, and how often /proc is listed."""
    seconds = min(SECONDS, 60)
    recording = fresh("crowd.sonde")
    config = fresh("crowd.ini")
    config.write_text("[agent]\ninterval = 100ms\nkeep = 100000\n[process]\nmax = 20000\n[self]\n"
                      f"[sink:file]\npath = {recording}\n")
    # The agent begins when all are there: what it allocates and opens at first is not what is asked.
    script = 'exec 3<&0; "$1" 10000 200 <&3 | { read -r ready; echo "$ready" >&2; exec "$2" agent -c "$3" >&2; }'
    begun = subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child=SIGKILL", "sh", "-c", script, "sh",
                              OUT / "crowd", SONDE, config], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        if begun.stderr.readline() != "ready\n":
            raise OSError("no PID namespace of its own: unshare(1) needs root")
        while not recording.exists():
            time.sleep(0.1)
        ours = AgentOf(config)
        time.sleep(3)
        size, before, begin = recording.stat().st_size, ours.cpu_ns(), now()
        first_pss = ours.pss_kib()
        time.sleep(seconds)
        after, end, pss, peak = ours.cpu_ns(), now(), ours.pss_kib(), recording.stat().st_size - size
    finally:
        begun.kill()  # and with it all that are in the namespace
        begun.wait()
    text = subprocess.run([SONDE, "cat", "--json", "--table", "self_instance", recording], check=True, capture_output=True,
                          text=True).stdout
    values = [json.loads(line)["values"] for line in text.splitlines() if '"process"' in line]
    table.row("10,000 processes, 200 of them active, at 10 Hz: CPU", (after - before) / (end - begin) / 1e9, "of one", target=0.5)
    table.row("  ticks missed", values[-1]["missed"] - values[0]["missed"], target=0)
    table.row("  growth of memory meanwhile", pss - first_pss, "KiB")
    table.note(f"{seconds} s, {values[-1]['cost'] / values[-1]['samples'] / 1e6:.1f} ms a sample; PSS {pss / 1024:.1f} MiB, "
               f"{peak / seconds / 1024:.0f} KiB/s on disk")
    recording.unlink()


def perf_event():
    """16 events on each CPU: one read a group on both sides; single events beside them."""
    plugin = BUILD / "plugins/collector-perf_event.so"
    text = subprocess.run([OUT / "perf_event", plugin], check=True, capture_output=True).stdout
    ratio, least, most, ours, bare, single, cpus = map(float, text.split())
    table.row(f"CPU of a sample of 16 perf events on {cpus:.0f} CPUs over bare group reads", ratio, "x", f"{least:.4g} .. {most:.4g}",
              f"{bare:.1f} us", target=1.3)
    table.row("  the same in time", ours, "us")
    table.row("  single descriptors over group reads", single / bare, "x")


def compiling(*observer):
    """Wall and CPU seconds of a compile of sonde's core, with whoever looks on."""
    folder = fresh("compiling")
    begin = now()
    cpu = cpu_seconds(*observer, "make", "-s", "-C", ROOT, f"B={folder}", folder / "core.a")
    return now() - begin, cpu


def calls_of_profile(seconds):
    """System calls of the recorder and of a command that only sleeps, and how often was sampled."""
    recording, calls = fresh("profile.sonde"), fresh("calls")
    run("strace", "-f", "-qq", "-o", calls, SONDE, "profile", "-q", "-i", "100ms", "-o", recording, "--", "sleep", seconds)
    summary = subprocess.run([SONDE, "summary", "--json", recording], check=True, capture_output=True, text=True).stdout
    with open(calls) as lines:
        return sum("resumed>" not in line for line in lines), json.loads(summary)["samples"]


def profile():
    """How much a compile is disturbed by being profiled, and by others that look on."""
    observers = {"sonde profile -i 100ms": [SONDE, "profile", "-q", "-i", "100ms", "-o", OUT / "profile.sonde", "--"],
                 "perf stat": ["perf", "stat", "-o", "/dev/null", "--"],
                 "/usr/bin/time -v": ["/usr/bin/time", "-v", "-o", "/dev/null"]}

    for name, words in observers.items():
        if not shutil.which(words[0]):
            table.note(f"{name} is not here")
            continue

        def observed():
            fresh("profile.sonde")
            return compiling(*words)

        pairs = alternating(observed, compiling)
        for what, which in ("wall time", 0), ("CPU time", 1):
            found = ratios([(ours[which], bare[which]) for ours, bare in pairs])
            table.row(f"{what} of a compile under {name}, over without", median(found), "x", spread(found),
                      f"{median([bare[which] for _, bare in pairs]):.2f} s", target=1.02 if words[0] == SONDE else None)
    # Where time is too noisy to tell. The first sample, and what begins and ends a recording, are in both.
    (few, first), (many, last) = calls_of_profile(2), calls_of_profile(12)
    table.row("system calls of a sample of sonde profile -i 100ms (strace)", (many - few) / (last - first))


def growth():
    """User time, beyond the kernel's own work, on machines that tests/generate makes: of a sample as CPUs grow, of a process as its
    mappings do. Not counted by callgrind: Debian 12's valgrind has no openat2(2), by which files under root= are opened."""
    def sample(collectors, extra, interval, frames, **size):
        root = machine.machine(fresh("machine"), **size)
        config = configuration("growth", interval, collectors, fresh("growth.sonde"), extra)
        config.write_text(config.read_text().replace("[agent]", f"[agent]\nroot = {root}", 1))
        command = [SONDE, "agent", "-c", config, "--max-frames"]
        return median([user_seconds(*command, frames + 1) - user_seconds(*command, 1) for _ in range(3)]) / frames * 1e3

    # topology reads its 14 files of each CPU at its start.
    several = ["cpu", "schedstat", "numa"]
    small, large = (sample(several, "", "100ms", 100, cpus=cpus, nodes=cpus // 64) for cpus in (512, 4096))
    table.row("sample of 4,096 CPUs and 64 nodes, user time", large, "ms", target=30)
    table.row("  per CPU, over that of 512 CPUs", large / 8 / small, "x", target=1.3)
    mapped = [sample([], "[numa_maps]\nceiling = 1TiB\nbudget = 60s\n", "1s", 5, vmas=vmas) for vmas in (100000, 1000000)]
    table.row("numa_maps of a process with 1,000,000 mappings, user time", mapped[1], "ms")
    table.row("  per mapping, over that of 100,000", mapped[1] / 10 / mapped[0], "x", target=1.3)
    shutil.rmtree(fresh("machine"), ignore_errors=True)


def held():
    """What a whole read costs the process that is read, of 1 GiB of small pages: its page faults and mmap() calls meanwhile."""
    for name in ("", "numa_maps", "smaps_rollup"):
        text = subprocess.run([OUT / "held", "1024", "4", *([name] if name else [])], check=True, capture_output=True).stdout
        read, fault, fault_tail, _, mmap, mmap_tail, _ = map(float, text.split())
        what = f"while {name} is read again and again" if name else "while nobody reads"
        if name:
            table.row(f"one read of {name}, of a process of 1 GiB", read, "ms")
        table.row(f"  its page fault {what}", fault, "us", f"99.9 %: {fault_tail:.4g}")
        table.row(f"  its mmap() {what}", mmap, "us", f"99.9 %: {mmap_tail:.4g}")


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


FIGURES = [back_to_back, instructions, paced_10hz, paced_1hz, memory, allocations, wakeups, overhead, parsing, collectors, processes, iterator, crowd, perf_event, profile, growth, held, reading, day, start]


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
