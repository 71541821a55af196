"""The verbs as their users call them: the real program, this machine's real kernel."""

import json
import pathlib
import resource
import signal
import subprocess
import time

import pytest


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


@pytest.mark.parametrize(
    "args, says",
    [
        ([], "usage"),
        (["reprot"], 'did you mean "report"?'),
        (["record", "--durations", "5"], "--durations"),
        (["record", "-d", "soon"], "-"),
        (["record", "make"], "behind --"),
        (["record", "-p", "0"], "whole number"),
        (["record", "-i", "0"], "above 0"),
        (["record", "--profile", "shed"], 'no profile "shed"'),
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
    assert "is there already" in done.stderr
    assert recording.read_bytes() == before


def test_dated_file_without_output(sonde, tmp_path):
    assert sonde("record", "--max-frames", "1", cwd=tmp_path).returncode == 0
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("sonde-") and file.name.endswith(".sonde")


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


def test_cat_follow_goes_on_to_the_end(sonde, agent, tmp_path, wait_until):
    path = tmp_path / "grows.sonde"
    running = agent("record", "-i", "100ms", "-d", "3s", "-o", path)
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    done = sonde("cat", "--json", "-t", "loadavg", "--follow", path, timeout=30)
    assert running.wait() == 0
    assert done.returncode == 0
    assert len(rows(done.stdout)) >= 25


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


@pytest.mark.parametrize("profile", ["quiet", "sched", "numa", "memory", "ci"])
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
    assert "control character" in done.stderr or "No such file" in done.stderr
    assert not list(tmp_path.iterdir())


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


def test_help_into_a_full_disk(build):
    with open("/dev/full", "w") as full:
        done = subprocess.run([build / "sonde", "--help"], stdout=full, stderr=subprocess.PIPE, timeout=20)
    assert done.returncode == 1
