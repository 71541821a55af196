"""No alarm on health: what ordinary work looks like gives no warning and no critical. Where others keep this machine busy meanwhile, what
they wait for and what they fault in is real, and not told against the work that is recorded here."""

import json
import os
import resource
import shutil
import sys
import sysconfig
import time
from pathlib import Path

import pytest

SECONDS = 4
GIB = 1 << 30
THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
OF_OTHERS = {"cpu.saturation", "cpu.process_runq_wait", "cpu.imbalance", "cpu.preemption", "cpu.steal", "mem.minor_fault_storm",
             "mem.major_faults", "mem.pressure"}


def busy():
    """Seconds of CPU time that this machine has used, and that our children have."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK"), ours.ru_utime + ours.ru_stime


def alarms(sonde, path, *command, timeout=60):
    """Of a recording made now: its findings above info, but for those that others may have caused."""
    begin, before = time.monotonic(), busy()
    told = sonde("record", "-q", "-i", "500ms", "-o", path, *command, timeout=timeout)
    assert told.returncode == 0, told.stderr
    spent, of_others = time.monotonic() - begin, busy()
    of_others = (of_others[0] - before[0]) - (of_others[1] - before[1])
    excused = OF_OTHERS if of_others > 0.05 * spent else set()
    findings = json.loads(sonde("report", "--json", path, check=True).stdout)["findings"]
    return [(f["id"], f["about"], f["title"]) for f in findings if f["severity"] != "info" and f["id"] not in excused]


def forget(paths):
    """What the page cache has of these files is dropped: they are cold."""
    os.sync()
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


@pytest.mark.parametrize("time", ["once", "again"])
def test_idle(sonde, tmp_path, time):
    assert alarms(sonde, tmp_path / "a.sonde", "-d", str(SECONDS)) == []


def test_one_job(sonde, tmp_path):
    """Single-threaded: one CPU is full, nobody waits."""
    code = f"import time\nend = time.monotonic() + {SECONDS}\nwhile time.monotonic() < end: pass"
    assert alarms(sonde, tmp_path / "a.sonde", "--", sys.executable, "-c", code) == []


def test_timers(sonde, tmp_path):
    """A thousand short sleeps a second."""
    code = f"import time\nend = time.monotonic() + {SECONDS}\nwhile time.monotonic() < end: time.sleep(0.001)"
    assert alarms(sonde, tmp_path / "a.sonde", "--", sys.executable, "-c", code) == []


def test_a_long_sleep_with_timers(sonde, tmp_path):
    """It sleeps; a timer's signal interrupts that a hundred times a second, and threads have timeouts of their own."""
    code = (
        "import signal, threading, time\n"
        "rung = []\n"
        "signal.signal(signal.SIGALRM, lambda *_: rung.append(1))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)\n"
        "for i in range(8): threading.Thread(target=threading.Event().wait, args=(1,), daemon=True).start()\n"
        f"end = time.monotonic() + {SECONDS}\n"
        "while time.monotonic() < end: signal.pause()\n"
        "raise SystemExit(not rung)\n"
    )
    assert alarms(sonde, tmp_path / "a.sonde", "--", sys.executable, "-c", code) == []


@pytest.mark.limit(600)
def test_file_copy(sonde, tmp_path):
    """2 GiB: page cache that fills is no lack of memory, and neither a busy disk nor a full node."""
    if shutil.disk_usage(tmp_path).free < 6 * GIB:
        pytest.skip("no room for two files of 2 GiB")
    source, copy = tmp_path / "source", tmp_path / "copy"
    block = os.urandom(1 << 20)
    try:
        with source.open("wb") as file:
            for _ in range(2 * GIB // len(block)):
                file.write(block)
        forget([source])
        told = alarms(sonde, tmp_path / "a.sonde", "--", "dd", f"if={source}", f"of={copy}", "bs=1M", "status=none", timeout=500)
        assert copy.stat().st_size == 2 * GIB
    finally:
        source.unlink()
        copy.unlink(missing_ok=True)
    assert told == []


def test_a_server_on_loopback(sonde, tmp_path):
    """It and its client use 30 % of the CPUs, as their own clocks say (clock_getcpuclockid(3))."""
    code = (
        "import os, socket, time, zlib\n"
        "here, there = socket.create_server(('127.0.0.1', 0)), None\n"
        "server = os.fork()\n"
        "if server == 0:\n"
        "    there = here.accept()[0]\n"
        "    while data := there.recv(65536): there.sendall(zlib.compress(data)[:64])\n"
        "    os._exit(0)\n"
        "client, begin, served = socket.create_connection(here.getsockname()), time.monotonic(), 0\n"
        "ours = lambda: time.process_time() + time.clock_gettime((~server << 3) | 2)\n"
        f"while time.monotonic() < begin + {SECONDS}:\n"
        "    client.sendall(os.urandom(4096)); client.recv(64); served += 1\n"
        "    while ours() > 0.3 * os.cpu_count() * (time.monotonic() - begin): time.sleep(0.005)\n"
        "client.close(); os.wait(); raise SystemExit(served < 100)\n"
    )
    assert alarms(sonde, tmp_path / "a.sonde", "--network", "--", sys.executable, "-c", code) == []


def test_a_cold_start(sonde, tmp_path):
    """Interpreter and library are read from the disk as it goes."""
    home = tmp_path / "home"
    library = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(library, home / "lib" / library.name, symlinks=True,
                    ignore=shutil.ignore_patterns("__pycache__", "test", "*-packages", "config-*"))
    program = shutil.copy(Path(sys.executable).resolve(), tmp_path / "python")
    forget([program, *(path for path in home.rglob("*") if path.is_file() and not path.is_symlink())])
    faults = resource.getrusage(resource.RUSAGE_CHILDREN).ru_majflt
    code = ("import argparse, asyncio, ctypes, decimal, email.mime.text, http.server, json, logging.config, multiprocessing.pool, "
            "sqlite3, ssl, tarfile, unittest.mock, xml.dom.minidom, xmlrpc.client, zipfile; import time; time.sleep(2)")
    told = alarms(sonde, tmp_path / "a.sonde", "--", "env", f"PYTHONHOME={home}", "PYTHONDONTWRITEBYTECODE=1", program, "-c", code)
    if resource.getrusage(resource.RUSAGE_CHILDREN).ru_majflt == faults:
        pytest.skip(f"{tmp_path} is in memory: nothing is ever cold there")
    assert told == []


@pytest.fixture
def half():
    """A cgroup of 256 MiB and half a CPU, in whichever version; the files to join it."""
    controllers = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup":
            controllers.update({name: Path(place) for name in options.split(",") if name in ("cpu", "memory")})
        elif kind == "cgroup2" and (Path(place) / "cgroup.subtree_control").exists():
            for name in (Path(place) / "cgroup.subtree_control").read_text().split():
                controllers.setdefault(name, Path(place))
    made = []
    try:
        for name, settings in (("cpu", {"cpu.max": "50000 100000", "cpu.cfs_quota_us": "50000"}),
                               ("memory", {"memory.max": str(256 << 20), "memory.limit_in_bytes": str(256 << 20)})):
            if name not in controllers:
                pytest.skip(f"no cgroup has a controller for {name} here")
            path = controllers[name] / f"sonde-half-{os.getpid()}"
            try:
                path.mkdir(exist_ok=True)
            except OSError as error:
                pytest.skip(f"no cgroup can be made: {error.strerror}")
            made.append(path)
            for file, text in settings.items():
                if (path / file).exists():
                    (path / file).write_text(text)
        yield [path / "cgroup.procs" for path in made]
    finally:
        for path in set(made):
            path.rmdir()


def test_a_container_at_half_its_limits(sonde, tmp_path, half):
    """128 MiB of 256, and a quarter of a CPU of a half, by its own clock."""
    code = (
        "import os, sys, time\n"
        "for path in sys.argv[1:]: open(path, 'w').write(str(os.getpid()))\n"
        "memory, begin = bytearray(os.urandom(1 << 20)) * 128, time.monotonic()\n"
        f"while time.monotonic() < begin + {SECONDS}:\n"
        "    if time.process_time() > 0.25 * (time.monotonic() - begin): time.sleep(0.01)\n"
    )
    recording = tmp_path / "a.sonde"
    assert alarms(sonde, recording, "--profile", "ci", "--", sys.executable, "-c", code, *half) == []
    judgements = json.loads(sonde("report", "--json", recording, check=True).stdout)["catalogue"]["judgements"]
    assert {"id": "cgroup.throttled", "verdict": "clear"} in [{k: j[k] for k in ("id", "verdict")} for j in judgements]


@pytest.fixture
def thp_always():
    """Huge pages for everybody, as many distributions have it; as it was before in the end."""
    try:
        before = THP.read_text().partition("[")[2].partition("]")[0]
        if before != "always":
            THP.write_text("always")
    except OSError as error:
        pytest.skip(f"{THP}: {error.strerror}")
    yield
    if before != "always":
        THP.write_text(before)


def test_huge_pages_for_everybody(sonde, tmp_path, thp_always):
    """A process that allocates, uses and frees some hundred MiB again and again, with pauses."""
    code = (
        "import mmap, time\n"
        f"end = time.monotonic() + {SECONDS}\n"
        "while time.monotonic() < end:\n"
        "    memory = mmap.mmap(-1, 256 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "    for at in range(0, len(memory), 4096): memory[at] = 1\n"
        "    memory.close(); time.sleep(0.2)\n"
    )
    assert alarms(sonde, tmp_path / "a.sonde", "--profile", "memory", "--", sys.executable, "-c", code) == []


@pytest.mark.limit(600)
def test_build(sonde, tmp_path):
    """As many compilers as CPUs: they wait for one another now and then."""
    lines = "".join(f"int f{i}(int x) {{ return x * {i} + x / {i + 1}; }}\n" for i in range(1000))
    targets = [f"o{i}.o" for i in range(6 * os.cpu_count())]
    (tmp_path / "a.c").write_text(lines)
    (tmp_path / "Makefile").write_text(f"all: {' '.join(targets)}\n%.o: a.c\n\t$(CC) -O2 -c -o $@ $<\n")
    told = alarms(sonde, tmp_path / "a.sonde", "--", "make", "-s", "-C", tmp_path, f"-j{os.cpu_count()}", timeout=500)
    assert told == []
