"""The verbs as their users call them: the real program, this machine's real kernel."""

import ctypes
import json
import os
import pathlib
import re
import resource
import signal
import struct
import subprocess
import time

import pytest

from live import sanitized


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def recording(sonde, tmp_path):
    """Five samples of this machine, 100 ms apart."""
    path = tmp_path / "five.sonde"
    done = sonde("record", "-i", "100ms", "--max-frames", "5", "-o", path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.mark.parametrize(
    "verb", ["record", "report", "cat", "agent", "receive", "check", "plugins", "explain", "reparse"]
)
def test_help_has_examples(sonde, verb):
    done = sonde(verb, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: sonde " + verb)
    assert "example" in done.stdout
    assert done.stderr == ""


def test_version(sonde):
    assert sonde("version").stdout.startswith("sonde ")
    assert sonde("version", "--help").stdout == sonde("help").stdout


@pytest.mark.parametrize(
    "args, says",
    [
        ([], "usage"),
        (["reprot"], 'did you mean "report"?'),
        (["record", "--durations", "5"], "--durations"),
        (["record", "-d", "soon"], "-"),
        (["record", "--pid", "1", "make"], "one of them"),
        (["record", "-p", "0"], "whole number"),
        (["record", "-i", "0"], "above 0"),
        (["record", "-d", "0"], "above 0"),
        (["agent", "-c", "x", "-d", "0s"], "above 0"),
        (["record", "-i", "1us"], '--interval 1us: it is not within 1ms and 1d'),
        (["record", "-i", "2d"], '--interval 2d: it is not within'),
        (["record", "--profile", "shed"], 'no profile "shed": it is quiet, sched, numa, memory, cache or ci (see'),
        (["report"], "which recording"),
        (["cat"], "one recording"),
        (["agent"], "-c FILE"),
        (["check"], "-c FILE"),
    ],
)
def test_misuse_is_two_and_says_so(sonde, args, says):
    done = sonde(*args)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("verb", ["report", "cat"])
def test_what_is_no_recording(sonde, tmp_path, verb):
    text = tmp_path / "a.txt"
    text.write_text("this is a letter, not a recording\n" * 100)
    empty = tmp_path / "empty"
    empty.touch()
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (text, empty, folder, tmp_path / "missing"):
        done = sonde(verb, path)
        assert done.returncode == 1, path
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert str(path) in done.stderr


def test_record_takes_the_samples_asked_for(sonde, recording):
    out = rows(sonde("cat", "--json", "-t", "loadavg", recording).stdout)
    assert len(out) == 5
    times = [row["time"] for row in out]
    assert times == sorted(times)
    # On a grid of 100 ms: the machine may be late, never early by a tick.
    assert 350e6 < times[-1] - times[0] < 5e9


def test_record_ends_with_its_reason(sonde, recording):
    end = rows(sonde("cat", "--json", "-t", "end", recording).stdout)
    assert [row["values"]["reason"] for row in end] == ["frames"]


def test_a_recording_is_private(recording):
    assert recording.stat().st_mode & 0o777 == 0o600


def test_nothing_is_written_over(sonde, recording):
    before = recording.read_bytes()
    done = sonde("record", "--max-frames", "1", "-o", recording)
    assert done.returncode == 1
    assert done.stderr == f"sonde record: {recording} is there already: give another name with -o, or remove it\n"
    assert recording.read_bytes() == before


def test_dated_file_without_output(sonde, tmp_path):
    done = sonde("record", "--max-frames", "1", cwd=tmp_path)
    assert done.returncode == 0
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("sonde-") and file.name.endswith(".sonde")
    assert done.stderr.startswith(f"{file.name}: ") and done.stderr.count("\n") == 1


def test_a_command_with_and_without_dashes(sonde, tmp_path):
    """As with sonde profile: the first word that is no option is the command, and what follows is its own."""
    for i, dashes in enumerate(([], ["--"])):
        done = sonde("record", "-q", "-o", tmp_path / f"{i}.sonde", *dashes, "sh", "-c", "echo $1 $2", "sh", "-d", "soon", check=True)
        assert done.stdout == "-d soon\n"


def test_record_to_a_pipe_is_a_recording(sonde, tmp_path):
    done = sonde("record", "-i", "50ms", "--max-frames", "3", "-o", "-", text=False)
    assert done.returncode == 0
    path = tmp_path / "piped.sonde"
    path.write_bytes(done.stdout)
    assert len(rows(sonde("cat", "--json", "-t", "loadavg", path).stdout)) == 3


def test_interrupt_ends_a_recording_well(sonde, agent, tmp_path, wait_until):
    path = tmp_path / "cut.sonde"
    running = agent("record", "-i", "50ms", "-o", path)
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    running.send(signal.SIGINT)
    assert running.wait() == 0
    end = rows(sonde("cat", "--json", "-t", "end", path).stdout)
    assert [row["values"]["reason"] for row in end] == ["signal"]


def test_record_of_a_command_sees_it(sonde, tmp_path):
    path = tmp_path / "cmd.sonde"
    done = sonde(
        "record", "-i", "50ms", "-o", path, "--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    )
    assert done.returncode == 0, done.stderr
    seen = rows(sonde("cat", "--json", "-t", "process", path).stdout)
    assert "sh" in {row["values"].get("comm") for row in seen}
    assert rows(sonde("cat", "--json", "-t", "end", path).stdout)[0]["values"]["reason"] == "command"


def test_what_a_command_returns_is_not_records(sonde, tmp_path):
    path = tmp_path / "false.sonde"
    assert sonde("record", "-q", "-o", path, "--", "false").returncode == 0 and path.exists()


def test_record_of_a_command_that_is_not_there(sonde, tmp_path):
    done = sonde("record", "-o", tmp_path / "x.sonde", "--", "/nonexistent/program")
    assert done.returncode == 127
    assert "/nonexistent/program" in done.stderr
    assert not (tmp_path / "x.sonde").exists()


def test_record_of_a_pid_that_is_not_there(sonde, tmp_path):
    done = sonde("record", "-p", "4194305", "-o", tmp_path / "x.sonde")
    assert done.returncode == 1
    assert "--pid 4194305" in done.stderr


def test_what_is_not_in_the_recording_is_said(sonde, recording):
    done = sonde("cat", "-t", "psii", recording)
    assert done.returncode == 1
    assert "psii" in done.stderr
    done = sonde("cat", "--since", "1h", recording)
    assert done.returncode == 1
    assert "stretch" in done.stderr


def test_record_of_a_pid_ends_with_it(sonde, tmp_path):
    child = subprocess.Popen(["sleep", "1"])
    path = tmp_path / "pid.sonde"
    done = sonde("record", "-i", "100ms", "-p", str(child.pid), "-o", path)
    child.wait()
    assert done.returncode == 0, done.stderr
    pids = {row["keys"]["pid"] for row in rows(sonde("cat", "--json", "-t", "process", path).stdout)}
    assert pids == {child.pid}


def test_values_are_the_kernels(sonde, tmp_path):
    path = tmp_path / "one.sonde"
    before = int(pathlib.Path("/proc/stat").read_text().split("ctxt ")[1].split()[0])
    assert sonde("record", "--max-frames", "1", "-o", path).returncode == 0
    after = int(pathlib.Path("/proc/stat").read_text().split("ctxt ")[1].split()[0])
    (row,) = rows(sonde("cat", "--json", "-t", "stat", path).stdout)
    assert before <= row["values"]["ctxt"] <= after
    total = int(pathlib.Path("/proc/meminfo").read_text().split()[1])
    (row,) = rows(sonde("cat", "--json", "-t", "meminfo", path).stdout)
    assert row["values"]["mem_total"] == total


def test_cat_since_until(sonde, recording):
    every = rows(sonde("cat", "--json", "-t", "loadavg", recording).stdout)
    late = rows(sonde("cat", "--json", "-t", "loadavg", "--since", "150ms", recording).stdout)
    assert late == [row for row in every if row["time"] - every[0]["time"] >= 150e6]
    early = rows(sonde("cat", "--json", "-t", "loadavg", "--until", "150ms", recording).stdout)
    assert early == [row for row in every if row["time"] - every[0]["time"] <= 150e6]


def test_cat_rate(sonde, recording):
    """Each is the growth of a counter over the time between two rows, computed here; gauges are what they are, in base units."""
    chosen = "-t", "vmstat.pgfault", "-t", "vmstat.nr_free_pages", recording
    raw = rows(sonde("cat", "--json", *chosen, check=True).stdout)
    rates = rows(sonde("cat", "--json", "--rate", *chosen, check=True).stdout)
    assert len(raw) == len(rates) == 5 and "pgfault_rate" not in rates[0]["values"]
    for before, after, rate in zip(raw, raw[1:], rates[1:]):
        grown = after["values"]["pgfault"] - before["values"]["pgfault"]
        seconds = (after["boottime"] - before["boottime"]) / 1e9
        assert rate["values"]["pgfault_rate"] == pytest.approx(grown / seconds)
        assert rate["values"]["nr_free_pages"] == after["values"]["nr_free_pages"]
    total = [row["values"]["mem_total"] for row in rows(sonde("cat", "--json", "--rate", "-t", "meminfo", recording).stdout)]
    raw = [row["values"]["mem_total"] for row in rows(sonde("cat", "--json", "-t", "meminfo", recording).stdout)]
    assert total == [1024 * value for value in raw]
    assert "pgfault_rate" in sonde("cat", "--rate", "--rate", *chosen, check=True).stdout


def test_cat_in_base_units(sonde, recording):
    """The load average is text with two decimals, kept in hundredths; meminfo is in KiB. Counters stay what they are."""
    for table, column, factor in (("loadavg", "load1", 0.01), ("meminfo", "mem_total", 1024), ("vmstat", "pgfault", 1)):
        raw, scaled = ([row["values"][column] for row in rows(sonde("cat", "--json", *how, "-t", table, recording, check=True).stdout)]
                       for how in ((), ("--scaled",)))
        assert scaled == [pytest.approx(value * factor) for value in raw] != []
    lines = sonde("cat", "--format", "influx", "--scaled", "-t", "loadavg", recording, check=True).stdout.splitlines()
    assert lines and all("load1=" in line and not re.search(r"load1=\d+[ui]", line) for line in lines)


def test_cat_a_column_and_a_table(sonde, recording):
    """A table beside a column of another has all of its columns."""
    found = rows(sonde("cat", "--json", "-t", "vmstat.pgfault", "-t", "loadavg", "-t", "ps*", recording).stdout)
    whole = rows(sonde("cat", "--json", "-t", "loadavg", recording).stdout)
    assert [row for row in found if row["table"] == "loadavg"] == whole != []
    assert all(set(row["values"]) == {"pgfault"} for row in found if row["table"] == "vmstat")
    assert {"loadavg", "vmstat", "psi"} == {row["table"] for row in found}


@pytest.mark.parametrize("time", ["yesterday", "2026-13-45", "2026-11-30T09:30:15+0100", "", "-"])
def test_a_time_that_is_none(sonde, recording, time):
    done = sonde("cat", "--since", time, recording)
    assert done.returncode == 2
    assert "10s (of the recording's start), -10s (of its end), 09:30:15, 2026-11-30T09:30:15" in done.stderr


def test_cat_follow_goes_on_to_the_end(sonde, agent, tmp_path, wait_until):
    path = tmp_path / "grows.sonde"
    running = agent("record", "-i", "100ms", "-d", "3s", "-o", path)
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    begun = len(rows(sonde("cat", "--json", "-t", "loadavg", path).stdout))
    done = sonde("cat", "--json", "-t", "loadavg", "--follow", path, timeout=30)
    assert running.wait() == 0
    assert done.returncode == 0
    assert rows(done.stdout) == rows(sonde("cat", "--json", "-t", "loadavg", path).stdout)
    assert len(rows(done.stdout)) > begun


def test_cat_into_a_reader_that_leaves(build, recording):
    cat = subprocess.Popen(
        [build / "sonde", "cat", "--json", str(recording)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    cat.stdout.close()
    assert cat.wait(timeout=20) in (0, -signal.SIGPIPE)
    assert cat.stderr.read() == b""


def test_same_input_same_bytes(sonde, recording):
    for args in (["report"], ["cat", "--json"], ["cat", "--csv"], ["cat"]):
        first = sonde(*args, recording, env={"LC_ALL": "C"}).stdout
        again = sonde(*args, recording, env={"LC_ALL": "C.UTF-8"}).stdout
        assert first == again and first


def test_check_tells_every_mistake_at_once(sonde, tmp_path):
    ini = tmp_path / "bad.ini"
    ini.write_text(
        "[agent]\nintervall = 1s\n[psii]\n[cpu]\ninterval = fast\n[sink:file]\nfsync = sometimes\n"
    )
    done = sonde("check", "-c", ini)
    assert done.returncode == 1
    for line, words in ((2, "interval"), (3, "psi"), (5, "fast"), (7, "fsync")):
        (found,) = [text for text in done.stderr.splitlines() if f"bad.ini:{line}:" in text]
        assert words in found


def test_kill_loses_at_most_two_seconds(sonde, agent, tmp_path, wait_until):
    path = tmp_path / "killed.sonde"
    running = agent("record", "-i", "100ms", "-o", path)
    begun = time.monotonic()
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    time.sleep(max(0, 5 - (time.monotonic() - begun)))
    running.send(signal.SIGKILL)
    killed = time.time_ns()
    running.wait()
    done = sonde("cat", "--json", "-t", "loadavg", path)
    assert done.returncode == 0
    assert killed - rows(done.stdout)[-1]["time"] < 2.5e9


@pytest.mark.parametrize("profile", ["quiet", "sched", "numa", "memory", "cache", "ci"])
def test_profiles_record(sonde, tmp_path, profile):
    path = tmp_path / "p.sonde"
    done = sonde("record", "--profile", profile, "--max-frames", "2", "-i", "50ms", "-o", path)
    assert done.returncode == 0, done.stderr
    tables = {row["table"] for row in rows(sonde("cat", "--json", path).stdout)}
    assert len(tables - {"note", "end", "gap"}) >= 2


def test_report_of_several_and_one_output(sonde, recording, tmp_path):
    done = sonde("report", "-o", tmp_path / "r.txt", recording, recording)
    assert done.returncode == 2
    done = sonde("report", recording, recording)
    assert done.returncode == 0
    assert done.stdout.count("Data quality") == 2


@pytest.mark.parametrize(
    "args",
    [
        ("cat", "\x1b[31mred\x07"),
        ("report", "\x1b[31mred\x07"),
        ("\x1b[31mred",),
        ("cat", "--\x1b[31mred"),
        ("explain", "\x1b[31mred"),
        ("check", "-c", "\x1b[31mred"),
        ("agent", "-c", "\x1b[31mred"),
        ("record", "-o", "/nowhere/\x1b[31mred"),
        ("record", "-d", "\x1b[31mred"),
        ("record", "--profile", "\x1b[31mred"),
    ],
)
def test_no_escape_of_an_argument_reaches_the_terminal(sonde, args):
    done = sonde(*args)
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n")
    assert not any(ord(c) < 32 for c in done.stderr[:-1]), done.stderr


@pytest.mark.parametrize("option", ["-o", "--root"])
def test_an_argument_is_never_configuration(sonde, tmp_path, option):
    done = sonde("record", "-d", "1", option, f"{tmp_path}/a\n[sink:file two]\npath = {tmp_path}/b", cwd=tmp_path)
    assert done.returncode == 1
    assert "its folder is not there" in done.stderr or "No such file" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [" lead and trail ", "a ; b # c = d", '"quoted"', "${HOME} %h%%", "[sink:file]", "a\nb",
                                  "long" * 60])
def test_an_output_has_the_name_that_was_given(sonde, tmp_path, name):
    """A name of a file is any text but "/": it is not the configuration's business."""
    assert sonde("record", "--max-frames", "1", "-o", name, cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == [name]
    done = sonde("cat", f"--json={name}.json", "-t", "loadavg", name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(rows((tmp_path / f"{name}.json").read_text())) == 1


def test_hangup_ends_a_recording(agent, tmp_path, wait_until, sonde):
    """A terminal that goes away: the recording is whole. Under nohup(1) it goes on."""
    path = tmp_path / "x.sonde"
    running = agent("record", "-i", "50ms", "-o", path)
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    running.send(signal.SIGHUP)
    assert running.wait() == 0, running.stderr
    (end,) = rows(sonde("cat", "--json", "-t", "end", path).stdout)
    assert end["values"]["reason"] == "signal"
    path = tmp_path / "nohup.sonde"
    running = agent("record", "-i", "50ms", "-o", path, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    running.send(signal.SIGHUP)
    time.sleep(0.3)
    assert running.running()
    assert running.end() == 0


def without_pidfd():
    """seccomp(2): pidfd_open answers ENOSYS, as before Linux 5.3 and under some container engines."""
    libc = ctypes.CDLL(None, use_errno=True)
    filters = struct.pack("HBBI", 0x20, 0, 0, 0)                     # ld  the number of the call
    filters += struct.pack("HBBI", 0x15, 0, 1, 434)                  # jeq pidfd_open, the same on every architecture
    filters += struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | 38)      # ret ENOSYS
    filters += struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000)           # ret allow
    code = ctypes.create_string_buffer(filters, len(filters))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(code)))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        os._exit(99)


@pytest.mark.parametrize("command", [False, True])
def test_the_end_of_a_process_without_pidfd(sonde, tmp_path, command):
    path = tmp_path / "pid.sonde"
    child = None if command else subprocess.Popen(["sleep", "1"])
    what = ["--", "sleep", "1"] if command else ["-p", str(child.pid)]
    done = sonde("record", "-i", "100ms", "-o", path, *what, preexec_fn=without_pidfd)
    if child:
        child.wait()
    assert done.returncode == 0, done.stderr
    (end,) = rows(sonde("cat", "--json", "-t", "end", path).stdout)
    assert end["values"]["reason"] == ("command" if command else "pid")
    assert len(rows(sonde("cat", "--json", "-t", "loadavg", path).stdout)) < 50


def on_a_terminal(command, **options):
    """What a command writes to a terminal (pty(7)) that is its stdout and stderr."""
    host, terminal = os.openpty()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, **options) as running:
        os.close(terminal)
        text = b""
        try:
            while piece := os.read(host, 4096):
                text += piece
        except OSError:  # EIO: nobody has the other end any more
            pass
        os.close(host)
    return running.returncode, text.decode()


def test_progress_on_a_terminal_alone(build, sonde, tmp_path):
    status, text = on_a_terminal([build / "sonde", "record", "-i", "100ms", "-d", "1.5", "-o", tmp_path / "a.sonde"])
    assert status == 0
    assert "of 1.5, " in text and "samples" in text and "\r" in text
    assert text.rstrip().endswith(f"sonde report {tmp_path}/a.sonde")
    status, text = on_a_terminal([build / "sonde", "record", "-q", "--max-frames", "2", "-o", tmp_path / "b.sonde"])
    assert (status, text) == (0, "")
    done = sonde("record", "-i", "100ms", "-d", "1.2", "-o", tmp_path / "c.sonde")
    size = (tmp_path / "c.sonde").stat().st_size // 1024
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"{tmp_path}/c.sonde: {size} KiB; sonde report {tmp_path}/c.sonde\n"


def test_colour_on_a_terminal_alone(build, sonde, tmp_path):
    """Of a finding's severity. no-color.org: NO_COLOR, not empty, takes it away."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 1000000 kB\nMemFree: 900 kB\nMemAvailable: 1000 kB\n")
    recording = tmp_path / "full.sonde"
    assert sonde("record", "--root", tmp_path, "-i", "10ms", "--max-frames", "5", "-o", recording).returncode == 0
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    command = [build / "sonde", "report", recording]
    assert "\033[" in on_a_terminal(command, env=environment)[1]
    assert "\033[" in on_a_terminal(command, env={**environment, "NO_COLOR": ""})[1]
    assert "\033[" not in on_a_terminal(command, env={**environment, "NO_COLOR": "1"})[1]
    assert "\033[" not in sonde("report", recording, env=environment).stdout


def test_a_start_that_fails_prints_its_reason_and_nothing_else(sonde, tmp_path):
    """No `end` of what never began, on stdout or in a file."""
    done = sonde("receive", "--json", "-l", "192.0.2.1:8125")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1 and "listen = 192.0.2.1:8125" in done.stderr
    (tmp_path / "proc").mkdir()
    config = tmp_path / "a.ini"
    config.write_text(f"[agent]\nroot = {tmp_path}\n[loadavg]\n[sink:stdout]\n[sink:file]\npath = {tmp_path}/a.sonde\n")
    done = sonde("agent", "-c", config)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"sonde agent: {config}:3: [loadavg]: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "a.sonde").exists()


def test_an_empty_output_is_misuse(sonde):
    done = sonde("record", "-d", "1", "-o", "")
    assert done.returncode == 2
    assert done.stdout == ""


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_descriptors_are_no_files_of_ours(build, sonde, tmp_path, closed):
    path = tmp_path / "a.sonde"
    call = f'exec "$0" record -q -i 50ms --max-frames 3 -o "$1" {closed}'
    done = subprocess.run(["sh", "-c", call, build / "sonde", path], timeout=30)
    assert done.returncode == 0
    done = sonde("cat", "--json", path)
    assert done.returncode == 0 and done.stderr == ""
    assert max(row["sequence"] for row in rows(done.stdout)) >= 3


def test_a_recording_that_is_not_whole_is_a_failure(sonde, tmp_path):
    """No file of more than 20 KiB may be written: what did not fit is lost, and that is no success."""
    path = tmp_path / "short.sonde"
    done = sonde(
        "record", "-i", "20ms", "--max-frames", "100", "-o", path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
    )
    assert done.returncode == 1
    assert str(path) in done.stderr


@pytest.mark.parametrize("args", [["cat", "--json"], ["cat"], ["report"]])
def test_a_full_disk_ends_a_command(build, recording, args):
    with open("/dev/full", "w") as full:
        done = subprocess.run([build / "sonde", *args, recording], stdout=full, stderr=subprocess.PIPE, timeout=20)
    assert done.returncode == 1
    assert b"No space left on device" in done.stderr


@pytest.mark.parametrize("output", ["-", "/dev/full"])
def test_what_could_not_be_recorded_is_said_in_one_line(build, output):
    """Why, and that samples are missing: together, at the end."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([build / "sonde", "record", "-q", "-i", "50ms", "--max-frames", "10", "-o", output], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "No space left on device" in done.stderr and "not every sample is in it" in done.stderr


def test_help_into_a_full_disk(build):
    with open("/dev/full", "w") as full:
        done = subprocess.run([build / "sonde", "--help"], stdout=full, stderr=subprocess.PIPE, timeout=20)
    assert done.returncode == 1


@pytest.mark.parametrize("words", ["profile -- true", "record --max-frames 1 -o a.sonde", "report five.sonde", "plugins", "explain psi",
                                   "compare five.sonde five.sonde"])
def test_without_proc(build, recording, words):
    """One line that says what to do, not one for each section."""
    if sanitized(build):
        pytest.skip("a sanitizer has lines of its own to say where there is no /proc")
    hide = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if subprocess.run([*hide, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here (unshare -rm)")
    environment = {name: value for name, value in os.environ.items() if name != "SONDE_PLUGIN_PATH"}
    done = subprocess.run([*hide, build / "sonde", *words.split()], capture_output=True, text=True, cwd=recording.parent, env=environment)
    assert done.returncode == (125 if words.startswith("profile") else 1) and not done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].endswith("mount -t proc proc /proc"), done.stderr
