"""SIGHUP: what changed is replaced, what did not keeps running, mistakes change nothing (cases 174 to 177)."""

import os
import signal
import socket
from pathlib import Path

import pytest

from compiling import ROOT, environment, shared_object
from live import rows


@pytest.fixture
def config(tmp_path):
    """config(TEXT) writes the agent's file: ticks of 20 ms, rows as JSON lines in the file `out`."""
    path = tmp_path / "a.ini"

    def write(text, agent=""):
        path.write_text(f"[agent]\ninterval = 20ms\n{agent}\n{text}\n"
                        f"[sink:stdout]\nformat = json\nflush = 0s\npath = {tmp_path}/out\n")
        return path

    write.out = tmp_path / "out"
    write.rows = lambda *tables: rows(write.out.read_text() if write.out.exists() else "", *tables)
    return write


def test_section_added_and_removed(agent, config, wait_until):
    """The sections that stay go on in their grid, with every instant numbered; a row of `config` says what happened."""
    running = agent("agent", "-c", config("[loadavg]\n[meminfo]"))
    wait_until(lambda: len(config.rows("meminfo")) >= 3)
    config("[loadavg]\n[vmstat]")
    running.send(signal.SIGHUP)
    wait_until(lambda: len(config.rows("vmstat")) >= 3)
    assert running.end() == 0, running.stderr
    assert "1 of them new or changed" in config.rows("config")[0]["values"]["text"]
    numbers = sorted({row["sequence"] for row in config.rows()})
    assert numbers == list(range(1, numbers[-1] + 1))
    last_meminfo = max(row["sequence"] for row in config.rows("meminfo"))
    first_vmstat = min(row["sequence"] for row in config.rows("vmstat"))
    assert last_meminfo < first_vmstat
    times = [row["boottime"] for row in config.rows("loadavg")]
    # The first sample of what is new comes at once; loadavg keeps its grid, late at most.
    assert all(later - earlier > 5e6 for earlier, later in zip(times, times[1:-1]))


@pytest.mark.parametrize("mistake, says", [
    ("[dummmy]", "dummmy"),
    ("[loadavg]", "loadavg"),
    ("[meminfo]\nintervall = 1s", "did you mean `interval`?"),
    ("[source:udp]\nlisten = 999.0.0.1:1", "source:udp"),
    ("[sink:file]\npath = /nonexistent/folder/x.sonde", "its folder is not there"),
])
def test_mistakes_change_nothing(agent, config, wait_until, mistake, says):
    """Case 174: it keeps running as before and says so."""
    running = agent("agent", "-c", config("[loadavg]"))
    wait_until(lambda: len(config.rows("loadavg")) >= 2)
    config(f"[loadavg]\n{mistake}")
    running.send(signal.SIGHUP)
    wait_until(lambda: "going on as before" in running.stderr)
    assert says in running.stderr
    before = len(config.rows("loadavg"))
    wait_until(lambda: len(config.rows("loadavg")) >= before + 3)
    assert running.end() == 0
    assert any("refused" in row["values"]["text"] for row in config.rows("note"))


@pytest.mark.parametrize("text, says", [
    ("", "there is no sink"),
    ("[agent]\ninterval = 20ms\n", "there is no sink"),
    ("[agent]\n[loadavg]\n", "there is no sink"),
    ("[sink:stdout]\nformat = json\n", "there is nothing to read"),
    ("[loadavg]\nenabled = no\n[sink:stdout]\nformat = json\n", "there is nothing to read"),
])
def test_what_it_can_not_go_on_with(agent, config, wait_until, text, says):
    """Refused at a start, and so at a reload."""
    path = config("[loadavg]")
    running = agent("agent", "-c", path)
    wait_until(lambda: len(config.rows("loadavg")) >= 2)
    path.write_text(text)
    running.send(signal.SIGHUP)
    wait_until(lambda: "going on as before" in running.stderr)
    assert says in running.stderr
    before = len(config.rows("loadavg"))
    wait_until(lambda: len(config.rows("loadavg")) >= before + 3)
    assert running.end() == 0


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["fifo", "device"])
def test_a_configuration_that_never_comes(agent, config, wait_until, make):
    """Nobody writes into the FIFO: it is not waited for."""
    path = config("[loadavg]")
    running = agent("agent", "-c", path)
    wait_until(lambda: len(config.rows("loadavg")) >= 2)
    path.unlink()
    make(path)
    running.send(signal.SIGHUP)
    wait_until(lambda: "going on as before" in running.stderr)
    assert "is no regular file" in running.stderr
    before = len(config.rows("loadavg"))
    wait_until(lambda: len(config.rows("loadavg")) >= before + 3)
    assert running.end() == 0


def test_a_pipe_serves_a_start_once(build, background, config, tmp_path, wait_until):
    """`-c <(...)` starts; a reload, at which it can't be read again, is refused."""
    config("[loadavg]")
    running = background("bash", "-c", f'exec "{build}/sonde" agent -c <(cat "{tmp_path}/a.ini")')
    wait_until(lambda: len(config.rows("loadavg")) >= 2)
    running.send(signal.SIGHUP)
    wait_until(lambda: "going on as before" in running.stderr)
    before = len(config.rows("loadavg"))
    wait_until(lambda: len(config.rows("loadavg")) >= before + 3)
    assert running.end() == 0


def test_a_reload_tells_all_mistakes_at_once(agent, config, wait_until):
    """Those of [agent] do not hide those of the sections, nor a wrong key a wrong value."""
    running = agent("agent", "-c", config("[loadavg]"))
    wait_until(lambda: len(config.rows("loadavg")) >= 2)
    path = config("[dummmy]\n[loadavg]\nintervall = 1s\nisolation = proces\n[sink:file]\ngroup = no-such-group", agent="tagss = a=b")
    running.send(signal.SIGHUP)
    wait_until(lambda: "going on as before" in running.stderr)
    for line in (3, 4, 6, 7, 9):
        assert running.stderr.count(f"sonde: error: {path}:{line}: ") == 1, running.stderr
    assert running.end() == 0


def bound_sockets(port):
    """How many UDP sockets of this machine have this local port."""
    lines = Path("/proc/net/udp").read_text().splitlines()[1:]
    return sum(int(line.split()[1].split(":")[1], 16) == port for line in lines)


def test_a_changed_source_takes_the_place_of_the_old_one(agent, config, wait_until):
    """Both listen at one address: the new one starts when the old one has gone."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    section = f"[loadavg]\n[self]\n[source:udp]\nlisten = 127.0.0.1:{port}\n"
    running = agent("agent", "-c", config(section))
    wait_until(lambda: len(config.rows("loadavg")) >= 2 and bound_sockets(port) == 1)
    config(section + "buffer = 1MiB")
    running.send(signal.SIGHUP)
    wait_until(lambda: "reloaded" in running.stderr)
    assert "1 of them new or changed" in running.stderr
    before = len(config.rows("loadavg"))
    wait_until(lambda: len(config.rows("loadavg")) >= before + 3)
    assert bound_sockets(port) == 1
    assert running.end() == 0, running.stderr


def test_included_files_stay(agent, config, tmp_path, wait_until):
    """Case 175: a reload reads what a start reads."""
    (tmp_path / "more.ini").write_text("[meminfo]\n")
    running = agent("agent", "-c", config("[loadavg]", agent="include = more.ini"))
    wait_until(lambda: len(config.rows("meminfo")) >= 2)
    running.send(signal.SIGHUP)
    wait_until(lambda: "reloaded" in running.stderr)
    before = len(config.rows("meminfo"))
    wait_until(lambda: len(config.rows("meminfo")) >= before + 3)
    assert "0 of them new or changed" in running.stderr
    assert running.end() == 0


def test_every_sink_reopens(agent, config, tmp_path, wait_until):
    """Case 176: renamed, then HUP with the configuration unchanged: the new file is there, the old one is left alone."""
    folder = shared_object(ROOT / "tests" / "e2e" / "plugins" / "moody.c", tmp_path / "plugins", kind="sink").parent
    sections = f"[loadavg]\n[sink:file]\npath = {tmp_path}/r.sonde\nflush = 50ms\n[sink:moody]\npath = {tmp_path}/moody\n"
    running = agent("agent", "-c", config(sections), env=environment(folder))
    wait_until(lambda: (tmp_path / "r.sonde").exists() and len(config.rows("loadavg")) >= 5)
    (tmp_path / "r.sonde").rename(tmp_path / "old.sonde")
    running.send(signal.SIGHUP)
    wait_until(lambda: (tmp_path / "r.sonde").exists())
    wait_until(lambda: "reopen" in (tmp_path / "moody").read_text())
    size = (tmp_path / "old.sonde").stat().st_size
    wait_until(lambda: (tmp_path / "r.sonde").stat().st_size > 0)
    assert running.end() == 0
    assert (tmp_path / "old.sonde").stat().st_size == size


def test_a_new_file_has_its_own_header(sonde, agent, config, tmp_path, wait_until):
    """Case 177: each file is read alone, and together they are all there was."""
    sections = f"[loadavg]\n[sink:file]\npath = {tmp_path}/r.sonde\nflush = 50ms\n"
    running = agent("agent", "-c", config(sections))
    wait_until(lambda: (tmp_path / "r.sonde").exists() and len(config.rows("loadavg")) >= 5)
    (tmp_path / "r.sonde").rename(tmp_path / "old.sonde")
    running.send(signal.SIGHUP)
    wait_until(lambda: (tmp_path / "r.sonde").exists())
    before = len(config.rows("loadavg"))
    wait_until(lambda: len(config.rows("loadavg")) >= before + 5)
    assert running.end() == 0
    numbers = []
    for name in ("old.sonde", "r.sonde"):
        done = sonde("cat", "--json", tmp_path / name)
        assert done.returncode == 0, done.stderr
        numbers += [row["sequence"] for row in rows(done.stdout, "loadavg")]
    assert numbers == [row["sequence"] for row in config.rows("loadavg")]


def test_sinks_come_and_go(sonde, agent, config, tmp_path, wait_until):
    """A sink that goes has an end record of its own; one that comes begins with whole rows."""
    running = agent("agent", "-c", config(f"[loadavg]\n[sink:file]\npath = {tmp_path}/one.sonde"))
    wait_until(lambda: len(config.rows("loadavg")) >= 3)
    config(f"[loadavg]\n[sink:file]\npath = {tmp_path}/two.sonde\n")
    running.send(signal.SIGHUP)
    wait_until(lambda: "reloaded" in running.stderr)
    before = len(config.rows("loadavg"))
    wait_until(lambda: len(config.rows("loadavg")) >= before + 3)
    assert running.end() == 0
    one = rows(sonde("cat", "--json", tmp_path / "one.sonde").stdout)
    two = rows(sonde("cat", "--json", tmp_path / "two.sonde").stdout)
    assert [row["values"]["reason"] for row in one if row["table"] == "end"] == ["reload"]
    assert [row["values"]["reason"] for row in two if row["table"] == "end"] == ["signal"]
    assert len([row for row in two if row["table"] == "loadavg"]) >= 3


def test_tags_reach_the_header(agent, config, wait_until):
    running = agent("agent", "-c", config("[loadavg]", agent="host = before"))
    wait_until(lambda: config.rows("loadavg"))
    config("[loadavg]", agent="host = after")
    running.send(signal.SIGHUP)
    wait_until(lambda: {row["host"] for row in config.rows("loadavg")} == {"before", "after"})
    assert running.end() == 0
