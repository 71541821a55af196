"""sonde compare: recordings and reports of two sides, what is said of them, and what is refused.

What the statistics are worth is told by tests/unit/statistics_test.c and compare_test.c; here the whole is run.
"""

import copy
import json
import os
import subprocess

import jsonschema
import pytest


@pytest.fixture(scope="module", autouse=True)
def compare_is_there(build):
    if not (build / "libexec/sonde-compare").exists():
        pytest.skip("sonde compare was left out of this build: jansson is not there")


@pytest.fixture(scope="module")
def recording(sonde, tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "machine.sonde"
    sonde("record", "-q", "-d", "2", "-i", "200ms", "-o", path, check=True)
    return path


@pytest.fixture(scope="module")
def report(sonde, recording):
    return json.loads(sonde("report", "--json", recording, check=True).stdout)


@pytest.fixture
def runs(report, tmp_path):
    """runs(name, [value, ...], at=0) writes a report for each value of mem.available, 60 s apart from minute `at` on, each
    second minute; returns their paths."""

    def write(name, values, at=0, step=2, **window):
        paths = []
        for i, value in enumerate(values):
            made = copy.deepcopy(report)
            made["window"] |= {"begin": f"2026-11-30T10:{at + step * i:02}:00.000000Z", "seconds": 10.0} | window
            made["metrics"] = [metric for metric in made["metrics"] if metric["name"] == "mem.available"]
            made["metrics"][0]["value"] = value
            paths.append(tmp_path / f"{name}{i}.json")
            paths[-1].write_text(json.dumps(made))
        return paths

    return write


MEMORY = [100, 101, 99, 100.5, 99.5, 100]


def deltas(done):
    return {delta["metric"]: delta for delta in json.loads(done.stdout)["deltas"]}


def test_json_is_as_its_schema_says(sonde, recording, runs, root):
    schema = json.loads((root / "docs/compare.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    one = sonde("compare", "--json", recording, recording, check=True)
    several = sonde("compare", "--json", *runs("a", MEMORY), "--vs", *runs("b", MEMORY, at=1), check=True)
    for done in (one, several):
        validator.validate(json.loads(done.stdout))
    found = json.loads(several.stdout)
    found["deltas"][0]["effect"] = 2
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(found)


def test_a_recording_is_what_its_report_is(sonde, recording, report, tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    done = sonde("compare", "--json", recording, path, check=True)
    found = json.loads(done.stdout)
    assert found["before"]["runs"][0]["source"] == str(recording)
    assert {each["change"] for each in found["deltas"]} == {0}
    told = {metric["name"]: metric["value"] for metric in report["metrics"] if not metric["about"]}
    assert {d["metric"]: d["before"] for d in found["deltas"] if not d["about"]} == told


def test_one_run_a_side_claims_nothing(sonde, runs):
    one, other = runs("a", [100]), runs("b", [10], at=1)
    done = sonde("compare", *one, *other, check=True)
    assert "one run a side proves nothing" in done.stdout
    assert "unknown mem.available" in done.stdout and "-90.0 %" in done.stdout
    delta = deltas(sonde("compare", "--json", *one, "--vs", *other, check=True))["mem.available"]
    assert delta["p"] is delta["effect"] is delta["interval"] is None and delta["verdict"] == "unknown"
    gate = sonde("compare", "--fail-on-regression", *one, *other)
    assert gate.returncode == 1 and "record at least 4 of each" in gate.stderr


def test_too_few_runs_are_no_sign_of_sameness(sonde, recording, runs):
    """Of three a side wholly apart 2 of C(6, 3) = 20 deals are as far out: above 0.05 whatever the values."""
    for after in ([100, 100, 100], [10, 11, 12]):
        done = sonde("compare", *runs("a", [100, 101, 102]), "--vs", *runs("b", after, at=1), check=True)
        assert done.stdout.startswith("unknown (too few runs: at least 4 a side for this many metrics, 1)\n")
        assert "unknown mem.available" in done.stdout and "same" not in done.stdout
    several = sonde("compare", *[recording] * 3, "--vs", *[recording] * 3, check=True).stdout
    assert several.startswith("unknown (too few runs") and "\nsame" not in several
    # A metric that only few of the runs have.
    before, after = runs("a", MEMORY), runs("b", MEMORY, at=1)
    for path in before[:4] + after[:4]:
        made = json.loads(path.read_text())
        made["metrics"] = [metric | {"name": "mem.other"} for metric in made["metrics"]]
        path.write_text(json.dumps(made))
    for path in before[4:] + after[4:]:
        made = json.loads(path.read_text())
        made["metrics"] += [made["metrics"][0] | {"name": "mem.other"}]
        path.write_text(json.dumps(made))
    found = deltas(sonde("compare", "--json", *before, "--vs", *after, check=True))
    assert {name: delta["verdict"] for name, delta in found.items()} == {"mem.other": "same", "mem.available": "unknown"}


def test_a_metric_that_no_run_has(sonde, runs):
    sides = *runs("a", [100]), *runs("b", [100], at=1)
    done = sonde("compare", "-m", "mem.avail", *sides)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "sonde compare: no recording has a metric mem.avail; there are mem.available\n"
    done = sonde("compare", "-m", "mem.*", "-m", "nope", *sides)
    assert done.returncode == 1 and "no recording has a metric nope; `sonde compare` without -m lists them" in done.stderr


def test_a_regression(sonde, runs):
    """Of six a side wholly apart 2 of C(12, 6) = 924 deals are as far out."""
    before, after = runs("a", MEMORY), runs("b", [value * 0.8 for value in MEMORY], at=1)
    done = sonde("compare", "--json", "--fail-on-regression", *before, "--vs", *after)
    assert done.returncode == 3 and "1 metric became worse" in done.stderr
    delta = deltas(done)["mem.available"]
    assert delta["verdict"] == "worse" and delta["direction"] == "up"
    assert delta["p"] == pytest.approx(2 / 924) and delta["effect"] == -1
    assert delta["percent"] == pytest.approx(-20)
    low, high = delta["change_interval"]
    assert -22 < low <= delta["change"] <= high < -18
    better = sonde("compare", "--fail-on-regression", *after, "--vs", *before)
    assert better.returncode == 0 and better.stdout.startswith("0 worse, 1 better")
    assert "better  mem.available" in better.stdout
    # As much as the minimum asks for.
    assert sonde("compare", "--fail-on-regression", "--minimum", "25", *before, "--vs", *after).returncode == 0
    assert sonde("compare", "--fail-on-regression", "--alpha", "0.001", *before, "--vs", *after).returncode == 1


def test_order_and_length_are_told(sonde, runs):
    """Cases 208 and 212."""
    done = sonde("compare", *runs("a", MEMORY, step=1), "--vs", *runs("b", MEMORY, at=10, step=1, seconds=60.0), check=True)
    words = " ".join(done.stdout.split())
    assert "run them in turn, as A B B A" in words
    assert "runs of 10.0 s are compared with runs of 60.0 s" in words
    done = sonde("compare", *runs("a", MEMORY), "--vs", *runs("b", MEMORY, at=1), check=True)
    assert "warning" not in done.stdout


def test_units_are_not_mixed(sonde, runs):
    """Case 210."""
    other = runs("b", [100], at=1)
    made = json.loads(other[0].read_text())
    made["metrics"][0]["unit"] = "ns"
    other[0].write_text(json.dumps(made))
    done = sonde("compare", "--json", *runs("a", [100]), *other)
    assert done.returncode == 1 and done.stderr == "sonde compare: the two sides have no metric in common\n"
    assert json.loads(done.stdout)["deltas"] == []
    assert any("different units" in warning for warning in json.loads(done.stdout)["warnings"])


def test_documents(sonde, runs, tmp_path):
    sides = [*runs("a", MEMORY), "--vs", *runs("b", MEMORY, at=1)]
    text, page, data = tmp_path / "text", tmp_path / "page", tmp_path / "data"
    done = sonde("compare", "-o", text, f"--md={page}", f"--json={data}", *sides, check=True)
    assert done.stdout == ""
    assert text.read_text() == sonde("compare", *sides).stdout
    assert page.read_text() == sonde("compare", "--md", *sides).stdout
    assert data.read_text() == sonde("compare", "--json", *sides).stdout
    assert "\n| same | mem.available | 100 B | 100 B | 0 B | +0.0 % | 1.000 | " in page.read_text()


def test_changes_of_shares_are_points(sonde, runs):
    """A column says the same everywhere: change by how much, percent of what was before. One of a thing is no plural."""
    before, after = runs("a", [100]), runs("b", [100], at=1)
    for paths, share, count in ((before, 0.524, 1), (after, 0.626, 2)):
        change(paths, name="cpu.user", unit="ratio", counted="", value=share)
        change(paths, name="run.processes", unit="count", counted="processes", value=count)
        change(paths, name="run.context_switches", unit="count", counted="switches", value=count)
    text = sonde("compare", *before, *after, check=True).stdout
    told = {line.split()[1]: line.split()[2:] for line in text.splitlines() if line.startswith("unknown ") and "." in line.split()[1]}
    assert told["cpu.user"] == "52.4 % 62.6 % +10.2 points +19.5 % - -".split()
    assert told["run.processes"] == "1 process 2 processes +1 process +100.0 % - -".split()
    assert told["run.context_switches"] == "1 switch 2 switches +1 switch +100.0 % - -".split()
    heads = [line.split()[-6:] for line in text.splitlines() if line.endswith(" effect")]
    assert heads == [["before", "after", "change", "percent", "p", "effect"]] * 2


def test_options_stand_anywhere(sonde, runs):
    a, b = runs("a", MEMORY), runs("b", MEMORY, at=1)
    expected = sonde("compare", "--json", *a, "--vs", *b, check=True).stdout
    for words in ([*a, "--vs", *b, "--json"], [*a, "--json", "--vs", *b], ["--json", "--", *a, "--vs", *b]):
        assert sonde("compare", *words, check=True).stdout == expected


@pytest.mark.parametrize("form", ["--md", "--json", "--metric=*"])
def test_same_input_same_bytes(sonde, recording, form):
    here = sonde("compare", form, recording, recording, text=False, check=True).stdout
    for zone, locale in (("Asia/Kathmandu", "C.UTF-8"), ("America/St_Johns", "de_DE.UTF-8")):
        env = {**os.environ, "TZ": zone, "LC_ALL": locale}
        assert sonde("compare", form, recording, recording, text=False, check=True, env=env).stdout == here


def test_how_long_a_command_took(sonde, tmp_path):
    paths = []
    for name, seconds in (("quick", "0.2"), ("slow", "0.9")):
        paths.append(tmp_path / f"{name}.sonde")
        sonde("record", "-q", "-i", "50ms", "-o", paths[-1], "--", "sleep", seconds, check=True)
    delta = deltas(sonde("compare", "--json", "-m", "run.elapsed", *paths, check=True))["run.elapsed"]
    assert delta["unit"] == "ns" and delta["direction"] == "down"
    assert 0.15e9 < delta["before"] < delta["after"] and delta["after"] > 0.8e9


USED = {  # `sonde summary --json`'s member, and the factor to the base unit
    "run.cpu": ("cpu", 1e9), "run.user": ("user", 1e9), "run.system": ("system", 1e9),
    "run.cpus_busy": ("cpus_busy", 1), "run.queue_wait": ("run_queue_wait", 1e9), "run.peak_rss": ("peak_rss", 1),
    "run.peak_rss_at_once": ("peak_rss_at_once", 1), "run.read": ("read", 1), "run.written": ("written", 1),
    "run.faults": ("faults", 1), "run.major_faults": ("major_faults", 1), "run.context_switches": ("context_switches", 1),
    "run.processes": ("processes", 1), "run.received": ("host_received", 1), "run.sent": ("host_sent", 1),
}


def test_what_a_command_used(sonde, tmp_path):
    """Rows of the summary, each where it is known on both sides; a report as JSON has its length alone."""
    paths, summaries = [], []
    for name, loops in (("before", "30000"), ("after", "90000")):
        paths.append(tmp_path / f"{name}.sonde")
        sonde("profile", "-q", "--network", "-i", "50ms", "-o", paths[-1], "--",
              "sh", "-c", f"i=0; while [ $i -lt {loops} ]; do i=$((i+1)); done; true | cat", check=True)
        summaries.append(json.loads(sonde("summary", "--json", paths[-1], check=True).stdout))
    found = deltas(sonde("compare", "--json", "-m", "run.*", *paths, check=True))
    wanted = {name for name, (member, _) in USED.items() if all(each[member] is not None for each in summaries)}
    seconds = found.pop("run.elapsed")["before"] / 1e9
    assert seconds == json.loads(sonde("report", "--json", paths[0]).stdout)["window"]["seconds"]
    assert set(found) == wanted and {"run.cpu", "run.peak_rss", "run.received", "run.processes"} <= wanted
    for name, delta in found.items():
        member, factor = USED[name]
        before, after = (each[member] * factor for each in summaries)
        assert (delta["before"], delta["after"]) == pytest.approx((before, after), rel=1e-6), name
        assert delta["change"] == pytest.approx(after - before, rel=1e-6, abs=1e-3)
    text = sonde("compare", *paths, check=True).stdout
    assert "percent" in text and text.index("run.cpu") < text.index("cpu.utilisation")
    for name in found:
        assert "sonde compare" in sonde("explain", name, check=True).stdout
    report = tmp_path / "report.json"
    report.write_text(sonde("report", "--json", paths[0], check=True).stdout)
    assert set(deltas(sonde("compare", "--json", "-m", "run.*", report, paths[1], check=True))) == {"run.elapsed"}


def test_of_a_machine_there_is_no_command(sonde, recording):
    assert not [name for name in deltas(sonde("compare", "--json", recording, recording, check=True)) if name.startswith("run.")]


def test_never_over_a_recording(sonde, recording):
    before = recording.read_bytes()
    done = sonde("compare", f"--json={recording}", recording, recording)
    assert done.returncode == 1 and "a recording is there" in done.stderr
    assert recording.read_bytes() == before


MISUSE = [[], ["a"], ["a", "b", "c"], ["--vs", "a"], ["a", "--vs"], ["--bad", "a", "b"], ["--minimum", "x", "a", "b"],
          ["--md", "--json", "a", "b"], ["--json=", "a", "b"], ["a", "--vs", "b", "--vs", "c"], ["a", "b", "--", "c"]]


@pytest.mark.parametrize("words", MISUSE, ids=" ".join)
def test_misuse(sonde, words):
    done = sonde("compare", *words)
    assert done.returncode == 2 and done.stderr.endswith("(see sonde compare --help)\n") and done.stderr.count("\n") == 1


BAD = {
    "missing": None,
    "empty": "",
    "cut": '{"meta": {"document": "sonde rep',
    "other": '{"meta": {}}',
    "newer": '{"meta": {"document": "sonde report", "format": 2}, "metrics": []}',
    "deep": '{"a":' + "[" * 100000,
    "twice": '{"meta": 1, "meta": 2}',
    "nul": '{"meta": {"document": "sonde\\u0000"}}',
    "types": '{"meta": {"document": "sonde report", "format": 1}, "window": [], "metrics": {}}',
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(sonde, runs, tmp_path, name):
    path = tmp_path / "bad.json"
    if BAD[name] is not None:
        path.write_text(BAD[name])
    done = sonde("compare", *runs("a", [100]), path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "bad.json" in done.stderr, done.stderr


def test_odd_values_are_no_numbers(sonde, runs):
    """Metrics without a number, of another type, with hostile names: what is left is compared."""
    sides = [runs("a", [100])[0], runs("b", [100], at=1)[0]]
    for path in sides:
        made = json.loads(path.read_text())
        good = made["metrics"][0]
        made["metrics"] += [7, {}, [], good | {"name": "null", "value": None}, good | {"name": "text", "value": "1"},
                            good | {"name": "\u001b[31m\u202ebad|\n", "value": 1e99}, good | {"name": "odd", "unit": 5}]
        path.write_text(json.dumps(made))
    done = sonde("compare", *sides, check=True)
    assert "\x1b" not in done.stdout and "\\x1b[31m\\u202ebad|\\n" in done.stdout
    assert {"mem.available", "odd"} <= set(deltas(sonde("compare", "--json", *sides, check=True)))
    table = [line for line in sonde("compare", "--md", *sides).stdout.splitlines() if "bad" in line]
    assert len(table) == 1 and "bad\\|" in table[0]


def change(paths, **members):
    """Metrics of each report: mem.available with these members as well."""
    for path in paths:
        made = json.loads(path.read_text())
        made["metrics"] += [made["metrics"][0] | members]
        path.write_text(json.dumps(made))


def test_what_is_of_one_side_only(sonde, runs, root):
    before, after = runs("a", MEMORY), runs("b", MEMORY, at=1)
    gate = "compare", "--fail-on-regression", *before, "--vs", *after
    # Processes come and go: their metrics have a counterpart by name.
    change(before, name="cpu.process_wait", about="process 1 (a)")
    change(after, name="cpu.process_wait", about="process 2 (a)")
    change(before + after, name="cpu.process_wait", about="process 3 (b)")
    assert sonde(*gate).returncode == 0
    change(before, name="cpu.steal")
    change(before[:2], name="cpu.irq")
    change(after, name="cpu.irq", value=None)
    change(after, name="mem.used", value=1e308)
    change(before, name="mem.used")
    change(after, name="mem.other")
    done = sonde(*gate)
    assert done.returncode == 1
    assert done.stderr == "sonde compare: 4 metrics are of one side only, cpu.steal first: choose metrics with --metric\n"
    words = " ".join(done.stdout.split())
    assert "3 metrics of the runs before have no counterpart, cpu.steal first: not compared" in words
    assert "1 metrics of the runs after have no counterpart, mem.other first: not compared" in words
    data = json.loads(sonde("compare", "--json", *before, "--vs", *after, check=True).stdout)
    assert data["meta"]["without_counterpart"] == [3, 1]
    jsonschema.Draft7Validator(json.loads((root / "docs/compare.schema.json").read_text())).validate(data)
    assert sonde("compare", "-m", "mem.available", *gate[1:]).returncode == 0


@pytest.mark.parametrize("seconds", [-5, 1e300])
def test_windows_that_can_not_be(sonde, runs, seconds):
    done = sonde("compare", *runs("a", [100]), *runs("b", [100], at=1, seconds=seconds))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(f"b0.json: its window of {seconds:g} seconds can't be\n") and done.stderr.count("\n") == 1


def test_huge_values(sonde, runs):
    """Up to 1e100 they are compared, in a few figures; beyond they are no numbers, and no verdict has a null."""
    before, after = runs("a", [value * 1e97 for value in MEMORY]), runs("b", [value * 0.8e97 for value in MEMORY], at=1)
    change(before + after, name="mem.huge", value=1.7e308)
    data = json.loads(sonde("compare", "--json", *before, "--vs", *after, check=True).stdout)
    assert [(delta["metric"], delta["verdict"]) for delta in data["deltas"]] == [("mem.available", "worse")]
    assert data["deltas"][0]["after"] == pytest.approx(8e98)
    for form in ("--md", "--metric=*"):
        text = sonde("compare", form, *before, "--vs", *after, check=True).stdout
        assert "inf" not in text and "nan" not in text and "8e+98 bytes" in text and "-20.0 %" in text
    # From next to nothing: of more per cent than there are numbers.
    text = sonde("compare", *runs("c", [1e-300] * 6), "--vs", *runs("d", [1e99] * 6, at=1), check=True).stdout
    assert "inf" not in text and max(map(len, text.splitlines())) < 200


def test_without_its_program(build, tmp_path):
    """A build without the library."""
    alone = tmp_path / "sonde"
    alone.write_bytes((build / "sonde").read_bytes())
    alone.chmod(0o755)
    done = subprocess.run([alone, "compare", "a", "b"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "left out when sonde was built" in done.stderr
