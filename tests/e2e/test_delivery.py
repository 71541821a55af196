"""Sinks that block, fail, are slow or busy: sampling misses no tick, and every instant is accounted for."""

import json
import subprocess
from pathlib import Path

import pytest

from compiling import ROOT, environment, shared_object
from live import law, rows

MOODS = ["well", "blocks", "fails", "slow", "busy", "later", "replaces"]


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("moody")
    shared_object(ROOT / "tests" / "e2e" / "plugins" / "moody.c", folder, kind="sink")
    return folder


def start(agent, tmp_path, plugins, mood, interval="20ms", more="", ring="64KiB"):
    """An agent with a moody sink, and a healthy one that shows what the host counts of both."""
    config = tmp_path / "a.ini"
    config.write_text(
        f"[agent]\ninterval = {interval}\n[loadavg]\n[vmstat]\n[self]\n"
        f"[sink:moody]\npath = {tmp_path}/taken\nmood = {mood}\nring = {ring}\nflush = 100ms\n{more}\n"
        "[sink:stdout]\nformat = json\nflush = 0s\n")
    return agent("agent", "-c", config, env=environment(plugins))


def sink_rows(running, name="sink:moody"):
    return [row for row in rows(running.stdout, "self_sink") if row["keys"]["sink"] == name]


@pytest.mark.parametrize("mood", MOODS)
def test_law_and_no_missed_tick(agent, tmp_path, plugins, wait_until, mood):
    running = start(agent, tmp_path, plugins, mood)
    wait_until(lambda: len(sink_rows(running)) >= 60, timeout=30)
    running.end()
    counted = sink_rows(running)
    assert all(law(row) for row in rows(running.stdout, "self_sink"))
    # Whatever one sink does, the other got every instant, in order.
    numbers = sorted({row["sequence"] for row in rows(running.stdout)})
    assert numbers == list(range(1, numbers[-1] + 1))
    last = counted[-1]["values"]
    assert last["produced"] >= 59
    if mood == "blocks":
        assert last["delivered"] == 0 and last["dropped"] > 0
    elif mood == "replaces":
        assert last["replaced"] > 0 and last["delivered"] == 0
    else:
        assert last["delivered"] > 0
    if mood == "busy":
        assert last["retries"] > 0
    if mood == "fails":
        assert last["dropped"] > 0


def test_a_sink_that_blocks_holds_up_nobody(agent, tmp_path, plugins, wait_until):
    """A stop takes a second at most, and says which sink hangs; the other sink has its end."""
    running = start(agent, tmp_path, plugins, "blocks")
    wait_until(lambda: len(sink_rows(running)) >= 10)
    running.send(15)
    assert running.wait(timeout=3) == 1
    assert "[sink:moody]: it hangs" in running.stderr
    assert [row["values"]["reason"] for row in rows(running.stdout, "end")] == ["signal"]


def test_a_drop_is_a_gap(agent, tmp_path, plugins, wait_until):
    """The instants that a slow sink got and those that its gaps count are all there were."""
    running = start(agent, tmp_path, plugins, "slow", interval="5ms", more="pause = 10ms")
    wait_until(lambda: sink_rows(running) and sink_rows(running)[-1]["values"]["dropped"] > 30, timeout=30)
    assert running.end() == 0
    lines = (tmp_path / "taken").read_text().splitlines()
    lost = sum(int(line.split()[1]) for line in lines if line.startswith("gap"))
    taken = [int(line) for line in lines if not line.startswith("gap")]
    assert lost > 30
    assert taken == sorted(taken)
    # Whether the sink got the last one depends on when it was stopped.
    assert taken[-1] - taken[0] + 1 - len(taken) <= lost <= taken[-1] - len(taken) + 200


def test_later_is_in_flight_until_acknowledged(agent, tmp_path, plugins, wait_until):
    """Of a sink that acknowledges by twos, never more than two and what waits are in flight."""
    running = start(agent, tmp_path, plugins, "later")
    wait_until(lambda: len(sink_rows(running)) >= 40, timeout=30)
    running.end()
    values = [row["values"] for row in sink_rows(running)]
    assert values[-1]["delivered"] > 20 and values[-1]["dropped"] == 0
    assert all(v["delivered"] % 2 == 0 for v in values)


def test_epipe_ends_quietly(build, tmp_path):
    """Whoever reads has enough: status 0, no word."""
    config = tmp_path / "a.ini"
    config.write_text("[agent]\ninterval = 10ms\n[loadavg]\n[sink:stdout]\nformat = json\nflush = 0s\n")
    child = subprocess.Popen([build / "sonde", "agent", "-c", config], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    assert json.loads(child.stdout.readline())["sequence"] == 1
    child.stdout.close()
    assert child.wait(10) == 0
    assert child.stderr.read() == ""


def test_wakeups(agent, tmp_path, wait_until):
    """A sink's thread wakes once a flush, as it counts itself; the main lane once a tick, as the kernel counts it."""
    config = tmp_path / "a.ini"
    path = tmp_path / "a.jsonl"
    config.write_text("[agent]\ninterval = 100ms\n[loadavg]\n[meminfo]\n[vmstat]\n[self]\n"
                      f"[sink:file]\npath = {tmp_path}/a.sonde\nflush = 500ms\n"
                      f"[sink:stdout]\nformat = json\npath = {path}\nflush = 0s\n")
    running = agent("agent", "-c", config)

    def switches(name):
        for task in Path(f"/proc/{running.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == name:
                status = (task / "status").read_text()
                return int(status.split("voluntary_ctxt_switches:")[1].split()[0])
        return None

    def ticks():
        return rows(path.read_text(), "loadavg") if path.exists() else []

    wait_until(lambda: switches("main") and ticks())
    begin, before = switches("main"), len(ticks())
    wait_until(lambda: len(ticks()) >= before + 40, timeout=20)
    after = len(ticks())
    # One more for the tick that is going on, and a mutex or two that another thread held.
    assert switches("main") - begin <= after - before + 6
    assert running.end() == 0
    counted = [row for row in rows(path.read_text(), "self_sink") if row["keys"]["sink"] == "sink:file"]
    seconds = (counted[-1]["boottime"] - counted[0]["boottime"]) / 1e9
    assert counted[-1]["values"]["wakeups"] - counted[0]["values"]["wakeups"] <= seconds / 0.5 + 1
