"""What a sink gets by its keys `tables`, `columns`, `kinds`, `every`, `values`, `privacy`: beside a sink that gets all."""

import json
import os
from pathlib import Path

import pytest

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


@pytest.fixture
def two(agent, tmp_path, wait_until):
    """two(collectors, keys) runs an agent with a sink that gets all and one with the keys: (rows of all, rows of it)."""

    def run(collectors, keys, instants=8, interval="50ms"):
        everything, some = tmp_path / "all.json", tmp_path / "some.json"
        config = tmp_path / "a.ini"
        config.write_text(f"[agent]\ninterval = {interval}\n{collectors}"
                          f"[sink:stdout all]\nformat = json\nflush = 0s\npath = {everything}\n"
                          f"[sink:stdout some]\nformat = json\nflush = 0s\npath = {some}\n{keys}")
        running = agent("agent", "-c", config)

        def rows(path):
            text = path.read_text() if path.exists() else ""
            return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

        wait_until(lambda: max([r["sequence"] for r in rows(everything)], default=0) >= instants, timeout=30)
        assert running.end() == 0, running.stderr
        return rows(everything), rows(some)

    return run


def of(rows, table):
    return [row for row in rows if row["table"] == table]


def test_rates(two):
    """Each rate is the difference of two raw values by the time between them, computed here."""
    raw, rates = two("[cpu]\n", "values = rate\n")
    seen, compared = {}, 0
    for row in of(raw, "cpu"):
        seen[row["sequence"], row["keys"]["cpu"]] = row
    for row in of(rates, "cpu"):
        now = seen[row["sequence"], row["keys"]["cpu"]]
        before = seen.get((row["sequence"] - 1, row["keys"]["cpu"]))
        if not before:
            assert row["values"] == {}  # nothing to compare with
            continue
        elapsed = now["boottime"] - before["boottime"]
        for name, value in now["values"].items():
            step = value - before["values"][name]
            if step < 0 or name in ("idle", "iowait"):
                continue  # steps back of these are clamped
            assert row["values"][name + "_rate"] == pytest.approx(step * TICK_NS / elapsed, rel=1e-12), name
            compared += 1
    assert compared > 50


def test_pace(two):
    """Every 200 ms of one each 50 ms: a quarter of the instants, the same values as in those."""
    raw, some = two("[loadavg]\n", "every = 200ms\n", instants=24)
    whole = {row["sequence"]: row for row in of(raw, "loadavg")}
    kept = of(some, "loadavg")
    assert len(whole) >= 24
    assert abs(len(kept) - len(whole) / 4) <= 2
    assert all(row == whole[row["sequence"]] for row in kept)
    steps = [b["boottime"] - a["boottime"] for a, b in zip(kept, kept[1:])]
    assert sorted(steps)[len(steps) // 2] == pytest.approx(200e6, rel=0.2)
    assert [row["table"] for row in some if row["table"] == "end"] == ["end"]  # occurrences pass at once


def test_tables_and_columns(two):
    raw, some = two("[cpu]\n[loadavg]\n", "tables = !stat\ncolumns = cpu.user, cpu.sys*\n", instants=3)
    assert {"cpu", "stat", "loadavg", "end"} <= {row["table"] for row in raw}
    assert {row["table"] for row in some} == {"cpu", "end"}
    assert {tuple(row["values"]) for row in of(some, "cpu")} == {("user", "system")}
    assert all("cpu" in row["keys"] for row in of(some, "cpu"))


def test_kinds(two):
    raw, some = two("[loadavg]\n", "kinds = marks\n", instants=3)
    assert len(of(raw, "loadavg")) >= 3
    assert {row["table"] for row in some} == {"end"}


def test_privacy(two):
    """Command lines are left out, names become stable words that say nothing; numbers are the same."""
    own = f"[process]\npids = {os.getpid()}\ncmdline = full\n"
    raw, some = two(own, "privacy = argument=drop, name\n", instants=3)
    comm = Path("/proc/self/comm").read_text().rstrip("\n")
    assert {row["values"]["comm"] for row in of(raw, "process")} == {comm}
    assert all("cmdline" in row["values"] for row in of(raw, "process"))
    names = {row["values"]["comm"] for row in of(some, "process")}
    assert len(names) == 1 and names.pop().startswith("~")
    assert not any("cmdline" in row["values"] for row in of(some, "process"))
    numbers = {row["sequence"]: row["values"]["utime"] for row in of(raw, "process")}
    assert all(row["values"]["utime"] == numbers[row["sequence"]] for row in of(some, "process"))
