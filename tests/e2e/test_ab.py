"""sonde ab: two commands in turn, and what is said when one of them fails."""

import json
import os
import shlex
import signal

import pytest

pytestmark = pytest.mark.limit(180)


@pytest.fixture(autouse=True)
def compare_is_there(build):
    if not (build / "libexec/sonde-compare").exists():
        pytest.skip("sonde compare was left out of this build: jansson is not there")


@pytest.fixture
def temporary(tmp_path):
    """TMPDIR of its own: what is left in it can be seen."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.fixture
def ab(sonde, temporary):
    return lambda *args, **options: sonde("ab", *args, env={**os.environ, "TMPDIR": str(temporary)}, **options)


@pytest.fixture
def say(tmp_path):
    """say(word) is a command that writes a word behind those of the others; say.read() is all of them."""
    path = tmp_path / "said"

    def command(word, then="true"):
        return f"echo {word} >>{path}; {then}"

    command.read = lambda: path.read_text().split()
    return command


def shell(command):
    return ["sh", "-c", command]


def test_in_turn(ab, say, temporary):
    """A B B A, with what stands around the runs."""
    hooks = [f"--{name}{side}={say(name + side)}" for name in ("setup", "prepare", "cleanup") for side in ("", "-a", "-b")]
    done = ab("-n", "3", "--warmup", "1", *hooks, "--", *shell(say("A")), "--vs", *shell(say("B")))
    assert done.returncode == 0, done.stderr
    a, b = ["prepare", "prepare-a", "A"], ["prepare", "prepare-b", "B"]
    expected = ["setup", "setup-a", "setup-b"] + a + b + a + b + b + a + a + b + ["cleanup", "cleanup-a", "cleanup-b"]
    assert say.read() == expected
    assert list(temporary.iterdir()) == []


def test_compares(ab):
    done = ab("-n", "4", "-m", "run.elapsed", "--fail-on-regression", "--json", "--",
              *shell("echo noise; sleep 0.05"), "--vs", *shell("echo noise; sleep 0.4"))
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    (delta,) = found["deltas"]
    assert delta["metric"] == "run.elapsed" and delta["verdict"] == "worse" and delta["effect"] == 1
    assert 0.05e9 <= delta["before"] < delta["after"] and 0.4e9 <= delta["after"]
    assert delta["p"] == pytest.approx(2 / 70)
    # The recordings are gone: where they were is nobody's business.
    assert [run["source"] for run in found["before"]["runs"]] == [f"a0{n}.sonde" for n in range(1, 5)]
    assert not any("came before" in warning for warning in found["warnings"])


def test_what_a_short_command_used(ab):
    """It spins for 5 ms by its own clock, and ends before a second sample."""
    spin = ["/usr/bin/python3", "-S", "-c", "import time\nwhile time.process_time() < 0.005: pass"]
    done = ab("-n", "1", "-m", "run.cpu", "--json", "--", *spin, "--vs", *spin)
    assert done.returncode == 0, done.stderr
    (delta,) = json.loads(done.stdout)["deltas"]
    assert all(0.005e9 <= delta[side] < 0.5e9 for side in ("before", "after")), delta


def test_says_what_was_run(ab, temporary):
    """Commands as a shell takes them, nothing that acts on a terminal; how long they took by itself, of few runs as well."""
    a, b = ["sh", "-c", "sleep 0.05; : 'it''s'"], ["sh", "-c", "sleep 0.4", "\x1b[31m", ""]
    text, page = temporary / "text", temporary / "page"
    done = ab("-n", "4", "-o", text, f"--md={page}", "--json", "--", *a, "--vs", *b)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [shlex.split(found[side]["command"]) for side in ("before", "after")] == [a, b]
    lines = text.read_text().splitlines()
    assert lines[0].startswith("run.elapsed worse (+") and ", p 0.029); all else: unknown (too few runs" in lines[0]
    assert lines[2] == f"before  {shlex.join(a)} (4 runs)"
    assert lines[3] == "after   sh -c 'sleep 0.4' '\\x1b[31m' '' (4 runs)"
    assert str(temporary) not in text.read_text() and "\x1b" not in text.read_text() + page.read_text()
    tests = {delta["metric"]: delta["tests"] for delta in found["deltas"]}
    assert tests.pop("run.elapsed") == 1 and set(tests.values()) == {found["meta"]["tests"] - 1} and len(tests) > 10


def test_a_long_command(ab):
    """What is told of it is cut, nothing fails by it."""
    done = ab("-n", "1", "--json", "-m", "run.elapsed", "--", "true", *["x" * 100000] * 3, "--vs", "true")
    assert done.returncode == 0, done.stderr
    command = json.loads(done.stdout)["before"]["command"]
    assert command.startswith("true xxx") and command.endswith("xxx...") and len(command) < 2000


def test_recordings_that_are_kept(ab, sonde, tmp_path):
    kept = tmp_path / "kept"
    assert ab("-n", "2", "--keep", kept, "--", "true", "--vs", "true").returncode == 0
    assert sorted(path.name for path in kept.iterdir()) == ["a01.sonde", "a02.sonde", "b01.sonde", "b02.sonde"]
    assert sonde("report", kept / "a01.sonde").returncode == 0
    again = ab("-n", "2", "--keep", kept, "--", "true", "--vs", "true")
    assert again.returncode == 1 and "is there already" in again.stderr


def test_a_run_that_fails_ends_it(ab, say, temporary):
    done = ab("-n", "5", "--cleanup", say("cleanup"), "--", *shell(say("A")), "--vs", *shell(say("B", "exit 7")))
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "sonde ab: sh: exit status 7\n"
    assert say.read() == ["A", "B", "cleanup"]
    assert list(temporary.iterdir()) == []


def test_failures_that_are_ignored(ab, say):
    done = ab("-n", "2", "--ignore-failure", "--", *shell(say("A")), "--vs", *shell(say("B", "kill -9 $$")))
    assert done.returncode == 0, done.stderr
    assert say.read() == ["A", "B", "B", "A"]


@pytest.mark.parametrize("hook", ["--setup", "--prepare-b", "--cleanup"])
def test_a_hook_that_fails(ab, hook):
    done = ab("-n", "1", hook, "exit 3", "--", "true", "--vs", "true")
    assert done.returncode == 1 and done.stdout == "" and done.stderr == "sonde ab: exit 3: exit status 3\n"


def test_a_command_that_is_not_there(ab):
    done = ab("-n", "2", "--", "true", "--vs", "/nowhere/command")
    assert done.returncode == 127 and "/nowhere/command: No such file or directory" in done.stderr
    assert ab("-n", "2", "--", "true", "--vs", "/etc/passwd").returncode == 126
    assert ab("-n", "2", "--warmup", "1", "--", "/nowhere/command", "--vs", "true").returncode == 1


def test_interrupted(agent, temporary, wait_until):
    running = agent("ab", "-n", "3", "--", "sleep", "30", "--vs", "sleep", "30", start_new_session=True,
                    env={**os.environ, "TMPDIR": str(temporary)})
    wait_until(lambda: list(temporary.glob("*/a01.sonde")))
    os.killpg(running.pid, signal.SIGINT)
    assert running.wait(20) == 1
    assert "Traceback" not in running.stderr and list(temporary.iterdir()) == []


MISUSE = [[], ["--"], ["--", "a"], ["--", "--vs", "b"], ["--", "a", "--vs"], ["a", "--vs", "b"], ["-n", "0", "--", "a", "--vs", "b"],
          ["--bad", "--", "a", "--vs", "b"]]


@pytest.mark.parametrize("words", MISUSE, ids=" ".join)
def test_misuse(ab, words):
    done = ab(*words)
    assert done.returncode == 2 and done.stderr.endswith("(see sonde ab --help)\n") and done.stdout == ""
