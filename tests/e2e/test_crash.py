"""Bad plugins (tests/crash): what the user sees of each, before any of its code runs and when it runs."""

import json
from collections import Counter

import pytest

from compiling import ROOT, environment, shared_object
from live import sanitized

CRASH = ROOT / "tests" / "crash"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("crash")


def compile_bad(folder, name):
    flags = {}
    if name in ("two_symbols", "no_note"):
        flags["script"] = None
    if name == "no_symbol":
        script = folder / "hidden.map"
        script.write_text("{ local: *; };\n")
        flags["script"] = script
    shared_object(CRASH / f"{name}.c", folder / name, **flags)
    return folder / name


REFUSALS = [
    ("wrong_magic", "its magic is 12345678, not 65646e73"),
    ("wrong_major", "it is built for ABI 2.0 and this sonde has 1."),
    ("no_note", "it has no sonde note"),
    ("no_symbol", "it does not export sonde_plugin"),
    ("two_symbols", "it exports 2 symbols and may export one, sonde_plugin (another is file_reset)"),
    ("missing_unit", "table missing_unit, column 1 (size): it has no unit"),
    ("constructor", "it has constructors (1), code that runs before sonde has checked it; move it into start(), or give "
                    "its section isolation = process"),
    ("threads", "it starts threads, which only sinks and sources may; give its section isolation = process"),
]


@pytest.mark.parametrize("name,sentence", REFUSALS)
def test_refused_by_check(sonde, build, folder, tmp_path, name, sentence):
    """One line with file and line, and what to do; the rest of the configuration is checked all the same."""
    if name == "constructor" and sanitized(build):
        pytest.skip("a sanitizer gives every plugin a constructor")
    plugins = compile_bad(folder, name)
    config = tmp_path / "a.ini"
    config.write_text(f"[{name}]\n[loadavg]\nintervall = 1s\n[sink:stdout]\n")
    result = sonde("check", "-c", config, env=environment(plugins))
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert len(lines) == 2, result.stderr
    assert f"{config}:1: [{name}]: {plugins}/collector-{name}.so: {sentence}" in lines[0]
    assert f"{config}:3: " in lines[1] and "did you mean `interval`?" in lines[1]


@pytest.mark.parametrize("name,sentence", [r for r in REFUSALS if r[0] not in ("missing_unit", "constructor", "threads")])
def test_refused_in_the_list(sonde, folder, name, sentence):
    """What the file tells is enough; the good ones are listed beside it."""
    plugins = compile_bad(folder, name)
    result = sonde("plugins", env=environment(plugins))
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert f"collector-{name}.so: {sentence}" in result.stderr
    assert "pressure stall information" in result.stdout


def test_accepted_in_a_worker(folder, tmp_path, agent, wait_until):
    """What is refused in the agent itself runs with isolation = process: nobody else lives there."""
    for name in ("early", "threads"):
        compile_bad(folder, name)
    shared_object(CRASH / "early.c", folder / "threads")
    config = tmp_path / "a.ini"
    config.write_text("[agent]\ninterval = 50ms\n[early]\nisolation = process\n[threads]\nisolation = process\n"
                      "[sink:stdout]\nformat = json\nflush = 0s\n")
    running = agent("agent", "-c", config, env=environment(folder / "threads"))
    wait_until(lambda: all(f'"table":"{name}"' in running.stdout for name in ("early", "threads")) or not running.running())
    assert running.end() == 0, running.stderr
    assert '"bytes":4711' in running.stdout  # what early's constructor has set


def test_the_one_that_hangs_is_named(folder, tmp_path, agent, wait_until):
    """It is not the first of its lane, and the configuration is not at fault."""
    config = tmp_path / "a.ini"
    config.write_text("[agent]\ninterval = 50ms\n[loadavg]\n[hang]\n[sink:stdout]\nformat = json\nflush = 0s\n")
    running = agent("agent", "-c", config, env=environment(compile_bad(folder, "hang")))
    wait_until(lambda: "[hang]: from here on" in running.stderr or not running.running())
    assert running.end() == 1
    assert "sonde: error: [hang]: it hangs in a sample\n" in running.stderr
    assert running.stderr.endswith("sonde agent: ended without waiting for what hangs, as told above\n")


def test_named(sonde, folder):
    plugins = compile_bad(folder, "missing_unit")
    result = sonde("plugins", "missing_unit", env=environment(plugins))
    assert result.returncode == 1
    assert "column 1 (size): it has no unit (SONDE_BYTES, SONDE_NONE, ...)" in result.stderr
    assert result.stdout == ""


def test_constructor_when_told_about(sonde, folder):
    """A plugin that is for workers alone can be looked at; what it does then ends only the child."""
    told = sonde("plugins", "early", env=environment(compile_bad(folder, "early")))
    assert told.returncode == 0 and "collector early 1.0" in told.stdout
    told = sonde("plugins", "constructor", env=environment(compile_bad(folder, "constructor")))
    assert told.returncode == 1 and told.stdout == ""
    assert told.stderr == "sonde plugins: constructor: it crashed while it was loaded (Aborted)\n"


@pytest.mark.parametrize("name", ["crash_start", "crash_sample", "hang", "flood"])
def test_looking_runs_nothing(sonde, folder, name):
    """Neither `plugins` nor `check` samples; `check` does not start."""
    plugins = compile_bad(folder, name)
    told = sonde("plugins", name, env=environment(plugins))
    assert told.returncode == 0, told.stderr
    assert f"collector {name} 1.0" in told.stdout


def test_flood(folder, tmp_path, agent, wait_until):
    """A million rows asked for, room for a thousand: no more than that, and the stream says how many found none."""
    plugins = compile_bad(folder, "flood")
    config = tmp_path / "a.ini"
    config.write_text("[agent]\ninterval = 50ms\n[flood]\n[loadavg]\n[sink:stdout]\nformat = json\nflush = 0s\n")
    running = agent("agent", "-c", config, env=environment(plugins))

    def rows():
        return [json.loads(line) for line in running.stdout.splitlines(keepends=True) if line.endswith("\n")]

    wait_until(lambda: max([row["sequence"] for row in rows()], default=0) >= 4, timeout=30)
    assert running.end() == 0, running.stderr
    counts = Counter(row["sequence"] for row in rows() if row["table"] == "flood")
    assert max(counts.values()) == 1000
    gaps = [row["values"] for row in rows() if row["table"] == "gap"]
    assert any(gap["instance"] == "flood" and gap["reason"] == "rows" and "999000 rows" in gap["text"] for gap in gaps)
    assert len([row for row in rows() if row["table"] == "loadavg"]) >= 4  # the others go on


@pytest.mark.parametrize("name, sentence", [
    ("wrong_slot", "table wrong_slot: a slot above its last, 1, was set"),
    ("wrong_type", "table wrong_type, column name: it is a text and was set as a number"),
    ("wrong_table", "a row of table 1 was wanted, and it has 1, from 0"),
])
def test_mistakes_in_rows(sonde, folder, tmp_path, name, sentence):
    """Its first sample tells the author; no such row gets any further, and the others go on."""
    plugins = compile_bad(folder, name)
    config = tmp_path / "a.ini"
    config.write_text(f"[agent]\ninterval = 50ms\n[{name}]\n[loadavg]\n[sink:stdout]\nformat = json\n")
    done = sonde("agent", "-c", config, "--max-frames", "3", env=environment(plugins))
    assert done.returncode == 0, done.stderr
    assert f"[{name}]: sample failed: {sentence}" in done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    tables = Counter(row["table"] for row in rows)
    assert tables[name] == 0 and tables["loadavg"] == 3
    assert any(row["values"]["text"] == sentence for row in rows if row["table"] == "gap" and row["values"]["instance"] == name)


ISOLATED = [
    ("crash_sample", "crashed"),
    ("hang", "crashed"),  # stuck is one that SIGKILL does not end
    ("flood", "rows"),
]


@pytest.mark.parametrize("name,reason", ISOLATED)
def test_isolated(folder, tmp_path, agent, wait_until, name, reason):
    """With isolation = process the agent survives each of them, says what is missing, and the plugin comes back."""
    plugins = compile_bad(folder, name)
    config = tmp_path / "a.ini"
    config.write_text(f"[agent]\ninterval = 50ms\n[{name}]\nisolation = process\ndeadline = 300ms\n[loadavg]\n"
                      "[sink:stdout]\nformat = json\nflush = 0s\n")
    running = agent("agent", "-c", config, env=environment(plugins))

    def rows():
        return [json.loads(line) for line in running.stdout.splitlines(keepends=True) if line.endswith("\n")]

    def came_back():
        """a gap of this reason, rows of the plugin after it, and the others go on"""
        assert running.running(), running.stderr
        got = rows()
        gaps = [row for row in got if row["table"] == "gap" and row["values"]["instance"] == name]
        told = [row["sequence"] for row in gaps if row["values"]["reason"] == reason]
        back = told and any(row["table"] == name and row["sequence"] > told[0] for row in got)
        return back and sum(row["table"] == "loadavg" for row in got) >= 4

    wait_until(came_back, timeout=60, step=0.25)
    assert running.end(timeout=5) == 0, running.stderr


def test_isolated_crash_in_start(folder, tmp_path, sonde):
    """The agent refuses to start, by a sentence and not by dying."""
    plugins = compile_bad(folder, "crash_start")
    config = tmp_path / "a.ini"
    config.write_text("[crash_start]\nisolation = process\n[loadavg]\n[sink:stdout]\n")
    refused = sonde("agent", "-c", config, env=environment(plugins), timeout=30)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert f"{config}:1: [crash_start]: it can't start: its worker was ended by signal 6 (Aborted)" in refused.stderr
