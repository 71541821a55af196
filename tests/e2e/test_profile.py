"""profile -- COMMAND: the command can't tell, its status comes back, its tree is counted to the last process."""

import fcntl
import itertools
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
import tty

import pytest


@pytest.fixture
def profile(sonde, tmp_path):
    """profile(*options, command=[...]) -> its end; the recording is tmp_path/p.sonde."""
    return lambda *options, command, **more: sonde(
        "profile", "-o", tmp_path / "p.sonde", *options, "--", *command, **more)


def rows(sonde, path, table):
    return [json.loads(line) for line in sonde("cat", "--json", "-t", table, path, check=True).stdout.splitlines()]


@pytest.mark.parametrize(
    "script, status",
    [("exit 0", 0), ("exit 7", 7), ("exit 125", 125), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("kill -INT $$", 130)],
)
def test_the_commands_status_comes_back(profile, script, status):
    assert profile("-q", command=["sh", "-c", script]).returncode == status


def test_what_can_not_be_run(profile, tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("no program")
    # A folder of PATH that may not be searched makes EACCES of it (execvp(3)).
    done = profile(command=["no-such-program"], env={**os.environ, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 127 and "no-such-program" in done.stderr
    done = profile(command=[plain])
    assert done.returncode == 126 and "Permission denied" in done.stderr
    assert not (tmp_path / "p.sonde").exists()


@pytest.mark.parametrize(
    "words, says",
    [
        (["--intervall", "1s", "--"], "unknown"),
        (["-i", "soon", "--"], "--interval soon"),
        (["-o", "-", "--"], "stdout is the command's"),
        (["--fail-on", "severe", "--"], "info, warning or critical"),
        (["--require", "cpu.saturation", "--"], "--fail-on"),
    ],
)
def test_a_wrong_call_runs_nothing(sonde, tmp_path, words, says):
    """125, since the command itself may return 1 or 2."""
    done = sonde("profile", *words, "touch", "ran", cwd=tmp_path)
    assert done.returncode == 125
    assert says in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_recording_is_not_written_over(profile, tmp_path):
    (tmp_path / "p.sonde").write_text("precious")
    assert profile(command=["touch", tmp_path / "ran"]).returncode == 125
    assert (tmp_path / "p.sonde").read_text() == "precious"
    assert not (tmp_path / "ran").exists()


def test_no_command(sonde):
    assert sonde("profile", "--").returncode == 125


def test_streams_are_the_commands(profile):
    text = bytes(range(256)) * 40
    done = profile("-q", command=["sh", "-c", "cat; echo apart >&2"], input=text, text=False)
    assert done.returncode == 0
    assert done.stdout == text
    assert done.stderr == b"apart\n"


WHAT_IT_IS = """
import json, os, resource, signal
limits = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
status = open("/proc/self/status").read()
print(json.dumps({
    "environment": dict(os.environ), "folder": os.getcwd(), "umask": os.umask(0), "nice": os.nice(0),
    "files": sorted(fd for fd in range(256) if os.path.exists(f"/proc/self/fd/{fd}")),
    "limits": [resource.getrlimit(limit) for limit in limits],
    "signals": [line for line in status.splitlines() if line.startswith(("SigBlk", "SigIgn", "SigCgt", "Cap", "NoNewPrivs"))],
    "group": [os.getpgrp(), os.getsid(0)], "cpus": sorted(os.sched_getaffinity(0)), "policy": os.sched_getscheduler(0)}))
"""


def test_the_command_is_what_it_is_without(profile):
    """Its environment, descriptors, limits, signals, rights, session: byte by byte; Ctrl-C's group is that of who called."""
    command = [sys.executable, "-S", "-c", WHAT_IT_IS]
    alone = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    assert json.loads(profile("-q", command=command).stdout) == json.loads(alone.stdout)


def test_what_is_said_is_on_stderr_behind_the_commands(profile, tmp_path):
    done = profile(command=["sh", "-c", "echo out; echo err >&2"])
    assert done.returncode == 0
    assert done.stdout == "out\n"
    assert done.stderr.startswith("err\n\n  elapsed ")
    assert " KiB; " in done.stderr.splitlines()[-1] and done.stderr.splitlines()[-1].startswith(str(tmp_path / "p.sonde"))


USED = """
import os, resource, time
begin = time.monotonic()
block = bytearray(os.urandom(1)) * (64 << 20)
while time.process_time() < 0.5:
    pass
used = resource.getrusage(resource.RUSAGE_SELF)
print(time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def result(said):
    """What it says first, a line each: names and values."""
    lines = itertools.takewhile(str.strip, said.lstrip("\n").splitlines())
    values = {line[:29].strip(): line[29:].split() for line in lines}
    return {name: float(words[0]) * UNITS[words[1]] if len(words) > 1 else words[0] for name, words in values.items()}


def test_the_result_comes_first(profile):
    """By the command's own clock and getrusage(2); around it is what the interpreter needs to begin and end, and what we measure."""
    before = time.monotonic()
    done = profile(command=[sys.executable, "-S", "-c", USED])
    longest = time.monotonic() - before
    elapsed, cpu, rss = map(float, done.stdout.split())
    first = result(done.stderr)
    assert list(first) == ["elapsed", "user", "system", "peak RSS", "waited for a CPU", "read from disk", "written to disk",
                           "processes", "exit status"]
    assert first["processes"] == "1"
    assert elapsed * 0.99 <= first["elapsed"] <= longest
    assert cpu * 0.99 <= first["user"] + first["system"] <= cpu + 0.3
    assert rss * 0.99 <= first["peak RSS"] < rss * 1.3


@pytest.mark.parametrize("script, ended", [("exit 3", ("exit status", "3")), ("kill -9 $$", ("ended by signal", "9"))])
def test_the_result_says_how_it_ended(profile, script, ended):
    assert list(result(profile(command=["sh", "-c", script]).stderr).items())[-1] == ended


def test_facts_of_the_machine_are_a_line_each(profile, sonde, tmp_path):
    """Those of severity info of the report; what is not only a fact has its reasons and times there too."""
    said = profile(command=["sleep", "0.3"]).stderr
    findings = json.loads(sonde("report", "--json", tmp_path / "p.sonde", check=True).stdout)["findings"]
    facts = said[said.index("exit status"):]
    for finding in findings:
        assert finding["id"] in facts
        fact = finding["severity"] == "info"
        assert (f"({finding['id']})" in facts.replace("\n          ", " ")) == fact
    if all(finding["severity"] == "info" for finding in findings):
        assert "when " not in facts and "evidence" not in facts


def test_documents_go_to_their_files(profile, tmp_path):
    done = profile(f"--json={tmp_path / 'r.json'}", f"--md={tmp_path / 'r.md'}", "--label", "first", command=["true"])
    assert done.returncode == 0 and done.stdout == ""
    assert json.loads((tmp_path / "r.json").read_text())["meta"]["label"] == "first"
    assert (tmp_path / "r.md").read_text().startswith("#")


def test_the_commands_failure_wins_over_the_gate(profile, tmp_path):
    """A finding that nobody judges closes a gate."""
    gate = ["-q", "--fail-on", "critical", "--require", "no.such"]
    assert profile(*gate, command=["true"]).returncode == 1
    (tmp_path / "p.sonde").unlink()
    assert profile(*gate, command=["sh", "-c", "exit 9"]).returncode == 9


TRAPS = """
import signal, sys, time
def told(number, frame):
    print(signal.Signals(number).name, flush=True)
    if number != signal.SIGWINCH:
        sys.exit(42)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH, signal.SIGQUIT):
    signal.signal(number, told)
print("ready", flush=True)
while True:
    time.sleep(10)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_to_sonde_is_the_commands(agent, sonde, tmp_path, wait_until, number):
    path = tmp_path / "p.sonde"
    run = agent("profile", "-q", "-o", path, "--", sys.executable, "-S", "-c", TRAPS)
    wait_until(lambda: "ready" in run.stdout)
    run.send(number)
    assert run.wait() == 42
    assert run.stdout.split() == ["ready", number.name]
    assert [row["values"]["reason"] for row in rows(sonde, path, "end")] == ["command"]


def spawn_on_terminal(command):
    """Runs it as an interactive shell does: a process group of its own, in the foreground of a terminal. The terminal, the
    shell's pid, and its report on the job: one line at each change of state."""
    shell = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
        "job = os.fork()\n"
        "if not job:\n"
        "    os.setpgid(0, 0); os.tcsetpgrp(0, os.getpid())\n"
        "    signal.signal(signal.SIGTTOU, signal.SIG_DFL)\n"
        "    os.execv(sys.argv[2], sys.argv[2:])\n"
        "while True:\n"
        "    _, status = os.waitpid(job, os.WUNTRACED)\n"
        "    os.write(int(sys.argv[1]), b'stopped\\n' if os.WIFSTOPPED(status) else b'%d\\n' % os.waitstatus_to_exitcode(status))\n"
        "    if not os.WIFSTOPPED(status):\n"
        "        break\n"
        "    os.killpg(job, signal.SIGCONT)\n")
    ours, theirs = os.pipe()
    pid, terminal = pty.fork()
    if pid == 0:
        os.set_inheritable(theirs, True)
        os.execv(sys.executable, [sys.executable, "-S", "-c", shell, str(theirs), *map(str, command)])
    os.close(theirs)
    return pid, terminal, os.fdopen(ours)


def read_until(terminal, word):
    text = b""
    while word not in text:
        text += os.read(terminal, 1024)
    return text


@pytest.mark.parametrize("key, name", [(b"\x03", b"SIGINT"), (b"\x1c", b"SIGQUIT")])
def test_keys_of_the_terminal(build, sonde, tmp_path, key, name):
    """Ctrl-C and Ctrl-\\ reach the command once, and what it makes of them is its own; Ctrl-Z stops both; the window's size."""
    path = tmp_path / "p.sonde"
    pid, terminal, states = spawn_on_terminal(
        [build / "sonde", "profile", "-q", "-o", path, "--", sys.executable, "-S", "-c", TRAPS])
    read_until(terminal, b"ready")
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    read_until(terminal, b"SIGWINCH")
    os.write(terminal, b"\x1a")
    assert states.readline() == "stopped\n"
    os.write(terminal, key)
    assert read_until(terminal, name).count(name) == 1
    assert states.readline() == "42\n"
    os.waitpid(pid, 0)
    os.close(terminal)
    assert [row["values"]["reason"] for row in rows(sonde, path, "end")] == ["command"]


def test_the_terminals_settings_are_the_commands(build, tmp_path):
    pid, terminal, states = spawn_on_terminal(
        [build / "sonde", "profile", "-q", "-o", tmp_path / "p.sonde", "--", "sh", "-c", "stty raw -echo; tty; echo done"])
    assert b"/dev/pts/" in read_until(terminal, b"done")
    assert states.readline() == "0\n"
    assert not termios.tcgetattr(terminal)[tty.LFLAG] & termios.ECHO
    os.waitpid(pid, 0)
    os.close(terminal)


def test_killed_it_leaves_what_was_recorded(agent, sonde, tmp_path, wait_until):
    path = tmp_path / "p.sonde"
    run = agent("profile", "-q", "-i", "50ms", "-o", path, "--", "sleep", "60")
    wait_until(lambda: path.exists() and path.stat().st_size > 20000)
    command = int(subprocess.run(["pgrep", "-P", str(run.pid)], stdout=subprocess.PIPE, check=True).stdout)
    run.process.kill()
    run.wait()
    os.kill(command, signal.SIGKILL)
    assert any(row["values"]["comm"] == "sleep" for row in rows(sonde, path, "process"))


def test_the_command_goes_on_where_the_recording_can_not(build, tmp_path):
    """A full disk (here a limit on sizes of files) is no reason to end a build, nor to say that all is well."""
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", build / "sonde", "profile", "-i", "10ms", "-o", tmp_path / "p.sonde",
         "--", "sh", "-c", "sleep 4; echo whole"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.stdout == "whole\n"
    assert done.returncode == 1
    assert "p.sonde" in done.stderr


BUSY = """
import os, resource, sys, time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
for i in range(int(sys.argv[1])):
    if not os.fork():
        spin(0.003)
        os._exit(0)
    os.wait()
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(each.ru_utime + each.ru_stime for each in used))
"""


@pytest.mark.parametrize("user", [None, 1000], ids=["root", "uid 1000"])
def test_processes_shorter_than_an_interval_are_counted(sonde, open_folder, user):
    """What the kernel charged to the command and its children, by getrusage(2), is what the recording has."""
    if user and os.getuid():
        pytest.skip("only root can become another user")
    path = open_folder / "p.sonde"
    done = sonde("profile", "-q", "-o", path, "--", sys.executable, "-S", "-c", BUSY, "1000", user=user)
    assert done.returncode == 0, done.stderr
    total = rows(sonde, path, "processes")[-1]["values"]["subtree_cpu"]
    assert total / os.sysconf("SC_CLK_TCK") == pytest.approx(float(done.stdout), rel=0.01)


def test_huge_pages_are_read_once_a_second(profile, sonde, tmp_path):
    """Whose hundred files cost more than all else; at the beginning, at the end and at whole seconds between."""
    assert profile("-q", command=["sleep", "0.8"]).returncode == 0
    path = tmp_path / "p.sonde"
    if not rows(sonde, path, "thp"):
        pytest.skip("no transparent huge pages here")
    times = {table: [row["boottime"] for row in rows(sonde, path, table)] for table in ("thp", "stat")}
    seconds = (times["stat"][-1] - times["stat"][0]) / 1e9
    assert 2 <= len(times["thp"]) <= 3 + seconds
    assert {times["thp"][0], times["thp"][-1]} == {times["stat"][0], times["stat"][-1]}


def test_the_first_word_is_the_command(sonde, tmp_path):
    """As time(1) and strace(1) have it: options behind it are the command's."""
    done = sonde("profile", "-q", "-o", tmp_path / "a.sonde", "sh", "-c", "echo $0; exit 7", "-q")
    assert (done.returncode, done.stdout) == (7, "-q\n"), done.stderr
