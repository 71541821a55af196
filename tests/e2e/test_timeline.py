"""timeline: what processes did over time, against what they were made to do, and the forms against those who read them."""

import json
import os
import shutil
import sys

import jsonschema
import pytest

from live import document

STATES = ("running", "waiting", "blocked")


def timeline(sonde, path):
    return document(sonde, "timeline", path)


def stretches(lane):
    begin = lane["begin"]
    for i, until in enumerate(lane["until"]):
        yield begin, until, {state: lane[state][i] for state in STATES}
        begin = until


def spent(process):
    """Seconds in each state; None where it is not known of all of it."""
    sums = dict.fromkeys(STATES, 0)
    for begin, until, states in stretches(process["lane"]):
        for state in STATES:
            known = sums[state] is not None and states[state] is not None
            sums[state] = sums[state] + states[state] * (until - begin) if known else None
    return sums


WORK = """
import os, time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
if not os.fork():
    time.sleep(0.8)
    os._exit(7)
spin(0.8)
os.wait()
time.sleep(0.7)
"""


def test_lanes_are_what_the_processes_did(profile, sonde, root):
    """One works for 0.8 s of CPU time and sleeps; its child only sleeps. The lanes add up to what the tree has."""
    _, path = profile(sys.executable, "-S", "-c", WORK)
    shown = timeline(sonde, path)
    schema = json.loads((root / "docs/timeline.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(shown)
    parent, child = (each for each in shown["processes"] if each["name"].startswith("python"))
    assert child["parent"] == parent["id"]
    assert spent(parent)["running"] == pytest.approx(0.8, abs=0.15)
    assert spent(parent)["running"] == pytest.approx(parent["cpu"], rel=0.05, abs=0.02)
    assert spent(child)["running"] < 0.1 and child["life"] > 0.75
    # It slept for the 0.7 s before its end, in which a busy machine may have let it wait, and hardly ran.
    end = parent["start"] + parent["life"]
    last = [(until - begin) * states["running"] for begin, until, states in stretches(parent["lane"]) if begin > end - 0.55]
    assert last and sum(last) < 0.1
    # The validator would have told.
    shown["processes"][0]["lane"]["running"] = "all of it"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(shown, schema)


def test_arrays_fit_and_time_goes_on(profile, sonde):
    _, path = profile("sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sh -c 'sleep 0.05; true' & done; wait")
    shown = timeline(sonde, path)
    charts = shown["charts"]
    assert all(len(series["value"]) == len(charts["until"]) for series in charts["series"])
    assert [charts["begin"], *charts["until"]] == sorted({charts["begin"], *charts["until"]})
    seen = set()
    for process in shown["processes"]:
        lane = process["lane"]
        assert process["parent"] is None or process["parent"] in seen
        seen.add(process["id"])
        assert len({len(lane["until"]), *(len(lane[state]) for state in STATES)}) == 1
        assert [lane["begin"], *lane["until"]] == sorted({lane["begin"], *lane["until"]})
        end = process["start"] + process["life"]
        assert process["start"] - 1e-5 <= lane["begin"] and (not lane["until"] or lane["until"][-1] <= end + 1e-5)
    cpu = next(series["value"] for series in charts["series"] if series["name"] == "cpu")
    used = sum(value * (until - begin) for value, until, begin in
               zip(cpu, charts["until"], [charts["begin"], *charts["until"]]) if value is not None)
    assert used == pytest.approx(document(sonde, "summary", path)["cpu"], abs=0.05)


def form(sonde, path, name):
    done = sonde("timeline", f"--{name}", path)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


# The Trace Event Format, "Event Descriptions", of the phases that are used: metadata, counters, complete events. In microseconds.
TRACK = {"ph": {}, "name": {"type": "string"}, "pid": {"type": "integer", "minimum": 1}, "tid": {"type": "integer", "minimum": 1}}
TIME = {"type": "number", "minimum": 0}
COUNTER = {**TRACK, "ph": {"const": "C"}, "ts": TIME,
           "args": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "number"}}}
COMPLETE = {**TRACK, "ph": {"const": "X"}, "cat": {"type": "string"}, "ts": TIME, "dur": TIME, "args": {"type": "object"}}


def metadata(name, argument, kind):
    return {**TRACK, "ph": {"const": "M"}, "name": {"const": name},
            "args": {"type": "object", "properties": {argument: {"type": kind}}, "required": [argument]}}


def event(properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


TRACE = {
    "type": "object",
    "required": ["traceEvents"],
    "properties": {
        "displayTimeUnit": {"enum": ["ms", "ns"]},
        "traceEvents": {"type": "array", "items": {"anyOf": [event(each) for each in (
            metadata("process_name", "name", "string"), metadata("process_sort_index", "sort_index", "integer"), COUNTER, COMPLETE)]}},
    },
}


def test_perfetto_opens_it(profile, sonde):
    """As the Trace Event Format and perfetto's importer have it: microseconds, a name for each process, slices that only nest."""
    _, path = profile("sh", "-c", "sleep 1.5; : '</script>\"'; exit 4")
    trace = form(sonde, path, "perfetto")
    jsonschema.Draft7Validator.check_schema(TRACE)
    jsonschema.validate(trace, TRACE)
    events = trace["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "C", "X"}
    named = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    lives = {event["pid"]: event for event in events if event.get("cat") == "process"}
    processes = timeline(sonde, path)["processes"]
    assert {each["pid"] for each in processes} <= named.keys()
    for each in processes:
        life = lives[each["pid"]]
        assert life["name"] == named[each["pid"]] == each["name"]
        assert life["dur"] == pytest.approx((each["life"] + min(each["start"], 0)) * 1e6, abs=1)
        assert life["args"]["command"] == each["command"]
    for event in events:
        if event.get("cat") == "state":
            life = lives[event["pid"]]
            assert life["ts"] <= event["ts"] and event["ts"] + event["dur"] <= life["ts"] + life["dur"] + 0.001
    assert_nested(events)
    sleeping = [event for event in events if event["name"] == "sleeping" and named[event["pid"]] == "sleep"]
    assert max(event["args"]["sleeping_ms"] for event in sleeping) > 100


def assert_nested(events):
    """Slices of a track are inside one another or apart; to the ns."""
    tracks = {}
    for each in events:
        if each["ph"] == "X":
            tracks.setdefault(each["tid"], []).append((round(each["ts"] * 1000), round((each["ts"] + each["dur"]) * 1000)))
    for slices in tracks.values():
        open_ends = []
        for begin, end in sorted(slices, key=lambda each: (each[0], -each[1])):
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)


def test_speedscope_opens_it(profile, sonde):
    """As its file format has it (`make check-browser` asks its own schema and opens it there): weights as many as samples, events in order and balanced, frames by index."""
    _, path = profile(sys.executable, "-S", "-c", WORK)
    scope = form(sonde, path, "speedscope")
    assert scope["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = scope["shared"]["frames"]
    assert all(isinstance(frame["name"], str) for frame in frames)
    kinds = {}
    for each in scope["profiles"]:
        assert each["unit"] == "seconds" and each["startValue"] <= each["endValue"]
        kinds[each["name"]] = each
        if each["type"] == "sampled":
            assert len(each["samples"]) == len(each["weights"]) and min(each["weights"]) > 0
            assert sum(each["weights"]) == pytest.approx(each["endValue"])
            assert all(0 <= frame < len(frames) for stack in each["samples"] for frame in stack)
            continue
        assert each["type"] == "evented"
        stack, at = [], 0
        for event in each["events"]:
            assert at <= event["at"] <= each["endValue"]
            at = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert not stack
    assert kinds["CPU time"]["endValue"] == pytest.approx(document(sonde, "summary", path)["cpu"])
    assert kinds["the chain that set the time"]["events"]


def test_hostile_names_are_text(profile, sonde):
    name = "a\"</scr\\\n\u202e"
    _, path = profile(sys.executable, "-S", "-c",
                      f"open('/proc/self/comm', 'w').write({name!r}); import time; time.sleep(0.3)")
    shown = timeline(sonde, path)
    assert shown["processes"][0]["name"] == name.rstrip("\n")[:15]
    assert form(sonde, path, "perfetto") and form(sonde, path, "speedscope")


def test_a_recording_without_processes(sonde, tmp_path):
    path = tmp_path / "r.sonde"
    config = tmp_path / "c.ini"
    config.write_text(f"[agent]\ninterval = 10ms\n[loadavg]\n[sink:file]\npath = {path}\n")
    assert sonde("agent", "-c", config, "-d", "100ms").returncode == 0
    shown = {}
    for name in ("json", "speedscope", "perfetto"):
        done = sonde("timeline", f"--{name}", path, check=True)
        assert done.stderr == f"sonde timeline: {path}: no processes are in it: sonde record and sonde profile have them, an agent with [process]\n"
        shown[name] = json.loads(done.stdout)
    assert shown["json"]["processes"] == [] and shown["json"]["charts"]["until"] == []
    assert shown["speedscope"]["profiles"] == []
    assert shown["perfetto"]["traceEvents"]


def test_the_verbs_calls(profile, sonde, open_folder):
    _, path = profile("true")
    assert "--json" in sonde("timeline", path).stderr
    for words in ([path], ["--json"], ["--json=", path], ["--json", "--perfetto", path], ["--jsn", path], ["--json", path, path]):
        assert sonde("timeline", *words).returncode == 2
    missing = sonde("timeline", "--json", open_folder / "missing")
    assert missing.returncode == 1 and "missing" in missing.stderr
    both = open_folder / "a.json", open_folder / "b.json"
    done = sonde("timeline", f"--perfetto={both[0]}", f"--speedscope={both[1]}", path)
    assert (done.returncode, done.stdout) == (0, "")
    assert all(json.loads(each.read_text()) for each in both)
    lost = sonde("timeline", f"--json={open_folder}/no/a.json", path)
    assert (lost.returncode, lost.stderr) == (1, f"sonde timeline: {open_folder}/no/a.json: No such file or directory\n")
    # A recording is not written over.
    assert sonde("timeline", f"--json={path}", path).returncode == 1
    assert timeline(sonde, path)
    # Same input, same bytes.
    assert sonde("timeline", "--json", path).stdout == sonde("timeline", "--json", path).stdout


PAGE = '<!DOCTYPE html><title>a page</title><script type="application/json" id="document">@DOCUMENT@</script><p>its end</p>'


def test_the_page_holds_the_document(profile, sonde, build, tmp_path):
    """How the page looks and works is told by `make check-browser`; here it is one of a few words, beside a copy of the sink."""
    (tmp_path / "plugins").mkdir()
    shutil.copy(build / "plugins/sink-tree.so", tmp_path / "plugins")
    _, path = profile("sh", "-c", "sleep 0.2; : '</script><!--'")
    out = tmp_path / "out.html"

    def write():
        return sonde("timeline", "-o", out, path, env={**os.environ, "SONDE_PLUGIN_PATH": str(tmp_path / "plugins")})

    missing = write()
    assert missing.returncode == 1 and "make web" in missing.stderr and not out.exists()
    (tmp_path / "web").mkdir()
    (tmp_path / "web/timeline.html").write_text(PAGE)
    done = write()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    head, tail = PAGE.split("@DOCUMENT@")
    text = out.read_text()
    assert text.startswith(head) and text.endswith(tail)
    inside = text[len(head):-len(tail)]
    assert "<" not in inside and json.loads(inside) == timeline(sonde, path)
