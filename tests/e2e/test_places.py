"""Where an agent is told to write, and who tells it to stop: places that are none, places that are taken, users who may not, and
signals by the dozen."""

import json
import os
import random
import signal
import time

import pytest

from captured import configuration, make_tree


@pytest.fixture
def config(tmp_path):
    """config(path or sections): a configuration that reads the tests' own tree and writes there."""
    tree = make_tree(tmp_path / "tree")

    def write(where, name="a.ini"):
        sections = where if str(where).startswith("[") else f"[sink:file]\npath = {where}\nflush = 50ms\n"
        file = tmp_path / name
        file.write_text(configuration(tree, sections))
        return file

    return write


def numbers(sonde, path):
    done = sonde("cat", "--json", path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert any(row["table"] == "end" for row in rows)
    return sorted({row["sequence"] for row in rows})


def test_two_agents_at_one_path(agent, sonde, config, tmp_path, wait_until):
    """The second gives the first one's file another name; both are whole."""
    path = tmp_path / "a.sonde"
    one = agent("agent", "-c", config(path))
    wait_until(lambda: path.exists() and path.stat().st_size > 2000)
    inode = path.stat().st_ino
    two = agent("agent", "-c", config(path, "b.ini"))
    wait_until(lambda: path.exists() and path.stat().st_ino != inode and path.stat().st_size > 2000)
    assert one.end() == 0 and two.end() == 0
    files = list(tmp_path.glob("*.sonde"))
    assert len(files) == 2
    for file in files:
        got = numbers(sonde, file)
        assert got == list(range(1, len(got) + 1))


def test_two_agents_at_one_moment(agent, sonde, config, tmp_path, wait_until):
    """Started together, many times: nothing is written over, whoever is first."""
    path = tmp_path / "a.sonde"
    agents = [agent("agent", "-c", config(path, f"{i}.ini")) for i in range(6)]
    wait_until(lambda: len(list(tmp_path.glob("*.sonde"))) == 6 and
               all(file.stat().st_size > 2000 for file in tmp_path.glob("*.sonde")), timeout=30)
    for each in agents:
        assert each.end() == 0, each.stderr
    for file in tmp_path.glob("*.sonde"):
        got = numbers(sonde, file)
        assert got == list(range(1, len(got) + 1))


def loop(path):
    path.symlink_to(path.name)


def dangling(path):
    path.symlink_to("nowhere/at/all.sonde")


@pytest.mark.parametrize("put", [os.mkdir, loop, dangling, lambda path: path.write_text("text\n")],
                         ids=["a folder", "a link to itself", "a dangling link", "a text"])
@pytest.mark.parametrize("verb", ["agent", "check", "record"])
def test_places_that_are_none(sonde, config, tmp_path, put, verb):
    """One line that names it, at the start, and whatever is there stays."""
    path = tmp_path / "place.sonde"
    put(path)
    before = os.lstat(path)
    args = ("record", "-d", "1", "-o", path) if verb == "record" else (verb, "-c", config(path))
    done = sonde(*args, timeout=20)
    assert done.returncode == 1, done.stdout
    assert len(done.stderr.splitlines()) == 1 and str(path) in done.stderr
    after = os.lstat(path)
    assert (before.st_ino, before.st_mode, before.st_size) == (after.st_ino, after.st_mode, after.st_size)


def test_a_device(agent, config, wait_until, tmp_path):
    """/dev/null takes a recording as it takes all else."""
    running = agent("agent", "-c", config("[sink:file]\npath = /dev/null\nflush = 20ms\n[sink:stdout]\n"))
    wait_until(lambda: '"sequence":20,' in running.stdout)
    assert running.end() == 0 and running.stderr == ""


@pytest.fixture
def nobody(tmp_path):
    """preexec_fn= of a child without a right (uid 65534); tmp_path is for it to read."""
    if os.geteuid():
        pytest.skip("only root becomes somebody else")
    for folder in (tmp_path, *tmp_path.parents[:2]):
        os.chmod(folder, 0o755)

    def become():
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)

    return become


def test_a_folder_that_may_not_be_written(sonde, config, tmp_path, nobody):
    done = sonde("agent", "-c", config(tmp_path / "a.sonde"), preexec_fn=nobody, timeout=20)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert f"{tmp_path}/a.sonde" in done.stderr


@pytest.mark.parametrize("make, says", [
    (lambda path: path.write_bytes(bytes(100)), "a file is there that you may not read"),
    (lambda path: path.touch(), "you may not write to what is there"),
    (os.mkfifo, "you may not write to what is there"),
], ids=["another's", "empty", "fifo"])
@pytest.mark.parametrize("verb", ["agent", "check"])
def test_what_is_there_is_of_somebody_else(sonde, config, tmp_path, nobody, make, says, verb):
    """root's, of mode 0600, in a folder of one's own: said at the start, and nothing of it is touched."""
    folder = tmp_path / "own"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    path = folder / "a.sonde"
    make(path)
    path.chmod(0o600)
    before = path.stat()
    done = sonde(verb, "-c", config(path), preexec_fn=nobody, timeout=20)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert f"path = {path}: {says}" in done.stderr
    assert path.stat().st_mtime_ns == before.st_mtime_ns and os.listdir(folder) == [path.name]


def test_nobody_records_what_everybody_may_see(sonde, tmp_path, nobody):
    """No right at all: what it may not read is absent, and nothing is said again and again."""
    folder = tmp_path / "own"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    path = folder / "a.sonde"
    done = sonde("record", "-i", "50ms", "--max-frames", "5", "-o", path, preexec_fn=nobody, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) <= 2
    rows = [json.loads(line) for line in sonde("cat", "--json", path).stdout.splitlines()]
    mine = next(row for row in rows if row["table"] == "process" and row["keys"]["pid"] == 1)
    assert "utime" in mine["values"] and "read_bytes" not in mine["values"]
    assert sonde("report", path).returncode == 0


@pytest.mark.parametrize("last", [signal.SIGINT, signal.SIGTERM])
def test_signals_by_the_dozen(agent, sonde, config, tmp_path, wait_until, last):
    """Reloads, user signals and stops in any order: it ends within its time, and what it wrote is whole."""
    path = tmp_path / "%Y%m%d.sonde"
    running = agent("agent", "-c", config(path))
    wait_until(lambda: list(tmp_path.glob("*.sonde")))
    rng = random.Random(last)
    for _ in range(60):
        running.send(rng.choice([signal.SIGHUP, signal.SIGHUP, signal.SIGCONT, signal.SIGWINCH, signal.SIGPIPE]))
        time.sleep(rng.random() * 0.004)
    assert running.running()
    for _ in range(10):
        running.send(last) if running.running() else None
        running.send(signal.SIGHUP) if running.running() else None
    assert running.wait(timeout=10) == 0, running.stderr
    got = []
    for file in sorted(tmp_path.glob("*.sonde")):
        done = sonde("cat", "--json", file)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        # The end of a file that others follow has the number of what comes next.
        got += {row["sequence"] for row in rows if row["values"].get("reason") != "rotation"}
    assert sorted(got) == list(range(1, len(got) + 1))


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT, signal.SIGABRT])
def test_a_signal_that_ends_it(agent, sonde, config, tmp_path, wait_until, number):
    """Those that it does not take end it as they end any program; what was flushed is there."""
    path = tmp_path / "a.sonde"
    running = agent("agent", "-c", config(path))
    wait_until(lambda: path.exists() and path.stat().st_size > 2000)
    running.send(number)
    assert running.wait() == -number
    done = sonde("cat", "--json", path)
    assert done.returncode == 0 and '"sequence":1,' in done.stdout
