"""export --fixture and replay: a recording as JSON and back. What both make of it is held against each other and, where a fixture
is written by hand, against numbers by hand."""

import copy
import json
import os
import re

import jsonschema
import pytest


@pytest.fixture(scope="module", autouse=True)
def replay_is_there(build):
    if not (build / "libexec/sonde-replay").exists():
        pytest.skip("sonde replay was left out of this build: jansson is not there")


@pytest.fixture(scope="module")
def by_hand(root):
    """The example of the page."""
    page = (root / "sinks/fixture/fixture.md").read_text()
    return json.loads(re.search(r"```json\n(.*?)```", page, re.S).group(1))


@pytest.fixture
def replay(sonde, tmp_path):
    """replay(fixture, *options) -> the recording of a document."""
    made = []

    def run(fixture, *options):
        made.append(tmp_path / f"{len(made)}.sonde")
        done = sonde("replay", "-o", made[-1], *options, "-", input=fixture if isinstance(fixture, str) else json.dumps(fixture))
        assert (done.returncode, done.stderr) == (0, "")
        return made[-1]

    return run


@pytest.fixture(scope="module")
def profiled(sonde, tmp_path_factory):
    path = tmp_path_factory.mktemp("replay") / "p.sonde"
    done = sonde("profile", "-q", "-i", "20ms", "--network", "--label", "before \u00e9", "-o", path, "--",
                 "sh", "-c", "for i in 1 2 3 4 5; do sleep 0.03 & sh -c 'sleep 0.05; exit 3'; done; wait")
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def demo(sonde, tmp_path_factory):
    path = tmp_path_factory.mktemp("replay") / "d.sonde"
    assert sonde("demo", "numa_misplaced", "-o", path).returncode == 0
    return path


VERBS = [("summary",), ("summary", "--json"), ("tree",), ("tree", "--json"), ("report",), ("report", "--json")]


@pytest.mark.parametrize("which", ["profiled", "demo", "v1"])
def test_a_recording_and_its_replay_are_one(sonde, replay, request, root, which):
    path = root / "tests/data/v1.sonde" if which == "v1" else request.getfixturevalue(which)
    fixture = sonde("export", "--fixture", path, check=True).stdout
    again = replay(fixture)
    for verb in VERBS:
        assert sonde(*verb, again, check=True).stdout == sonde(*verb, path, check=True).stdout, verb
    rows = [sorted(sonde("cat", "--json", one, check=True).stdout.splitlines()) for one in (path, again)]
    assert rows[0] == rows[1] and len(rows[0]) > 10
    assert sonde("export", "--fixture", again, check=True).stdout == fixture


def test_same_fixture_same_bytes(sonde, profiled, tmp_path):
    fixture = tmp_path / "p.json"
    sonde("export", f"--fixture={fixture}", profiled, check=True)
    made = []
    for i, (zone, locale) in enumerate((("UTC", "C"), ("Asia/Kathmandu", "C.UTF-8"), ("America/St_Johns", "de_DE.UTF-8"))):
        env = {**os.environ, "TZ": zone, "LC_ALL": locale}
        path = tmp_path / f"{i}.sonde"
        sonde("replay", "-o", path, fixture, check=True, env=env)
        made.append(path.read_bytes())
        assert sonde("export", "--fixture", path, check=True, env=env).stdout == fixture.read_text()
    assert made[0] == made[1] == made[2]
    assert sonde("replay", "-o", "-", fixture, text=False, check=True).stdout == made[0]


@pytest.fixture(scope="module")
def validator(root):
    schema = json.loads((root / "docs/fixture.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def test_the_schema(sonde, validator, profiled, root, by_hand):
    for path in (profiled, root / "tests/data/v1.sonde"):
        validator.validate(json.loads(sonde("export", "--fixture", path, check=True).stdout))
    validator.validate(by_hand)
    for spoil in (lambda d: d["host"].update(nme=1), lambda d: d["tables"][0]["rows"][0].update(form=1)):
        bad = copy.deepcopy(by_hand)
        spoil(bad)
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(bad)


def test_by_hand(sonde, replay, by_hand):
    """1 + 15 ticks of 10 ms over 300 ms; cc1 began 5 ticks behind make, which began with the recording."""
    path = replay(by_hand)
    summary = json.loads(sonde("summary", "--json", path, check=True).stdout)
    assert summary["duration"] == pytest.approx(0.3) and summary["samples"] == 4 and summary["processes"] == 2
    assert (summary["cpu"], summary["user"], summary["system"]) == pytest.approx((0.16, 0.14, 0.02))
    assert summary["cpus_busy"] == pytest.approx(0.16 / 0.3)
    assert [(each["name"], each["cpu"], each["peak_rss"]) for each in summary["programs"]] == [
        ("cc1", 0.15, 30 << 20), ("make", 0.01, 2 << 20)]
    tree = json.loads(sonde("tree", "--json", path, check=True).stdout)
    make, cc1 = tree["processes"]
    assert (make["pid"], make["start"], make["life"], make["ended"]) == (100, 0, 0.3, False)
    assert (cc1["parent"], cc1["start"], cc1["life"], cc1["ended"]) == (make["id"], 0.05, 0.15, True)
    assert (tree["meta"]["host"], tree["meta"]["label"]) == ("builder", "")
    labelled = replay(by_hand, "--label", "after")
    assert json.loads(sonde("tree", "--json", labelled).stdout)["meta"]["label"] == "after"
    first = json.loads(sonde("cat", "--json", path).stdout.splitlines()[0])
    assert (first["time"], first["boottime"], first["sequence"]) == (1767603600000000000, 60000000000, 1)


@pytest.mark.parametrize("realtime,begin", [
    (2**63 - 1, "2262-04-11T23:47:16.854775Z"), (1, "1970-01-01T00:00:00.000000Z"), (-(2**63), None)])
def test_times_at_their_ends(sonde, replay, by_hand, realtime, begin):
    """To the last ns of 64 bits; what lies before 1970 has no date."""
    made = copy.deepcopy(by_hand)
    made["host"]["anchor"]["realtime"] = realtime
    path = replay(made)
    first = json.loads(sonde("cat", "--json", path, check=True).stdout.splitlines()[0])
    assert first["time"] == realtime
    timeline = json.loads(sonde("timeline", "--json", path, check=True).stdout)
    assert timeline["window"]["begin"] == begin
    for verb in (*VERBS, ("timeline", "--perfetto"), ("timeline", "--speedscope"), ("compare", path)):
        assert sonde(*verb, path, check=True).stderr == "", verb


def test_a_stretch_behind_all_times(sonde, replay, by_hand):
    late = sonde("report", "--since", "9999-12-31T00:00:00", replay(by_hand))
    assert late.returncode == 1 and "no instant lies in this stretch" in late.stderr


def of_ticks(by_hand, ticks):
    """The build, of so many ticks of cc1 in user mode."""
    made = copy.deepcopy(by_hand)
    make, cc1 = made["tables"][0]["rows"]
    cc1["values"]["utime"] = [[1, 5], [2, ticks]]
    make["values"]["cutime"] = [[0, 0], [3, ticks]]
    return made


def test_no_more_cpus_than_there_are(sonde, replay, by_hand):
    """15 ticks of 10 ms in 100 ms of a machine with one CPU: ticks are counted late, and it had no more than that CPU."""
    made = of_ticks(by_hand, 20)
    made["host"].update(ncpus=1, online="0")
    made["instants"] = [60000000000, 60100000000, 60200000000, 60250000000]
    path = replay(made)
    timeline = json.loads(sonde("timeline", "--json", path, check=True).stdout)
    (cpu,) = [series["value"] for series in timeline["charts"]["series"] if series["name"] == "cpu"]
    assert timeline["cpus"] == 1 and max(cpu) == 1
    perfetto = json.loads(sonde("timeline", "--perfetto", path, check=True).stdout)
    told = [event["args"]["these processes"] for event in perfetto["traceEvents"] if event["ph"] == "C" and event["name"] == "CPU"]
    assert told and max(told) == 1
    summary = json.loads(sonde("summary", "--json", path, check=True).stdout)
    assert summary["cpu"] == pytest.approx(0.22) and summary["cpus_busy"] == pytest.approx(0.22 / 0.25)


def test_what_changed_between_two_builds(sonde, replay, by_hand):
    """Of 14 ticks 6 are left, and two of the kernel: 80 ms for 160, by half. No other row of the summary is another one."""
    before, after = replay(by_hand), replay(of_ticks(by_hand, 6))
    lines = {line.split()[1]: line.split()[2:] for line in sonde("compare", before, after, check=True).stdout.splitlines()
             if " run." in line}
    assert lines["run.cpu"] == "160 ms 80.0 ms -80.0 ms -50.0 % - -".split()
    assert lines["run.user"] == "140 ms 60.0 ms -80.0 ms -57.1 % - -".split()
    assert lines["run.elapsed"] == "300 ms 300 ms 0 ns +0.0 % - -".split()
    assert lines["run.cpus_busy"] == "0.533 0.267 -0.267 -50.0 % - -".split()
    assert lines["run.processes"] == "2 processes 2 processes 0 processes +0.0 % - -".split()
    assert "run.queue_wait" not in lines  # not known, and so not 0
    page = sonde("compare", "--md", before, after, check=True).stdout
    assert "| unknown | run.cpu | 160 ms | 80.0 ms | -80.0 ms | -50.0 % | - | - |" in page


def test_several_builds_a_side(sonde, replay, by_hand):
    """Of four a side wholly apart 2 of C(8, 4) = 70 deals are as far out."""
    before, after = ([replay(of_ticks(by_hand, ticks)) for ticks in side] for side in ((14, 15, 16, 17), (6, 7, 8, 9)))
    done = sonde("compare", "--json", "-m", "run.cpu", *before, "--vs", *after, check=True)
    (delta,) = json.loads(done.stdout)["deltas"]
    assert (delta["verdict"], delta["effect"], delta["p"]) == ("better", -1, pytest.approx(2 / 70))
    gate = sonde("compare", "--fail-on-regression", "-m", "run.cpu", *after, "--vs", *before)
    assert gate.returncode == 3


ODD = [
    ("name", "string", ["plain", "\u202egpj", "nul\0byte", 'q"\\\n', {"hex": "ff00c3"}, ""]),
    ("big", "u64", [0, 2**63 - 1, "9223372036854775808", "18446744073709551615", None, 1]),
    ("low", "i64", [0, -1, -(2**63), 2**63 - 1, None, 0]),
    ("real", "f64", [0.1, -2.5e-300, "nan", "inf", "-inf", 3]),
]


@pytest.fixture
def odd(by_hand):
    made = copy.deepcopy(by_hand)
    made["host"]["tags"] = {"env": "prod \u00fc"}
    made["instants"] = [[10, 12], [20, 20], [30, 31, 7], 40, 50, 60]
    columns = [{"name": "key", "semantics": "key"}, {"name": "buckets", "type": "histogram", "semantics": "gauge", "slots": 3}]
    columns += [{"name": name, "type": kind, "semantics": "state"} for name, kind, _ in ODD]
    values = {name: [[i, value] for i, value in enumerate(each)] for name, _, each in ODD}
    made["tables"] = [{
        "name": "odd", "instance": "odd one", "columns": columns, "partial": [2],
        "rows": [{"values": {"key": 1, "buckets.0": 5, "buckets.2": [[0, 1], [3, None]], **values}},
                 {"from": 0, "until": 1, "values": {"key": 2}}, {"from": 4, "values": {"key": 2, "name": "again"}}],
    }]
    return made


def test_odd_values_are_kept(sonde, replay, odd, validator):
    validator.validate(odd)
    path = replay(odd)
    rows = [json.loads(line) for line in sonde("cat", "--json", path, check=True).stdout.splitlines()]
    ones = [row["values"] for row in rows if row["table"] == "odd" and row["keys"]["key"] == 1]
    assert [row.get("big") for row in ones] == [0, 2**63 - 1, 2**63, 2**64 - 1, None, 1]
    assert [row.get("low") for row in ones] == [0, -1, -(2**63), 2**63 - 1, None, 0]
    assert [row["name"] for row in ones] == ["plain", "\u202egpj", "nul\0byte", 'q"\\\n', "\ufffd\0\ufffd", ""]
    assert [row["buckets"] for row in ones] == [[5, None, 1]] * 3 + [[5, None, None]] * 3
    # Of a partial table nothing tells that a row ended.
    assert [row["sequence"] for row in rows if row["keys"].get("key") == 2] == [1, 2, 7, 9, 10]
    exported = json.loads(sonde("export", "--fixture", path, check=True).stdout)
    validator.validate(exported)
    (table,) = exported["tables"]
    assert table["instance"] == "odd one" and exported["host"]["tags"] == {"env": "prod \u00fc"}
    for name, _, each in ODD:
        assert table["rows"][0]["values"][name] == [[i, value] for i, value in enumerate(each)], name
    again = replay(exported)
    assert again.read_bytes() == path.read_bytes()


def test_one_stretch_and_one_table(sonde, profiled):
    whole = json.loads(sonde("export", "--fixture", profiled, check=True).stdout)
    some = json.loads(sonde("export", "--fixture", "-t", "processes", "--until", "40ms", profiled, check=True).stdout)
    assert {table["name"] for table in some["tables"]} & {"process", "net", "stat"} == set()
    assert "processes" in {table["name"] for table in some["tables"]}
    assert 0 < len(some["instants"]) < len(whole["instants"])


def test_two_recordings_are_no_fixture(sonde, profiled, demo, tmp_path):
    both = tmp_path / "both.sonde"
    both.write_bytes(profiled.read_bytes() + demo.read_bytes())
    done = sonde("export", "--fixture", both)
    assert done.returncode == 1 and done.stdout == "" and "more than one recording is in it" in done.stderr


def put(path, value):
    def change(document):
        *way, last = path
        for step in way:
            document = document[step]
        document[last] = value

    return change


ROW = ("tables", 0, "rows", 1)
WRONG = {
    "meta: no fixture that this version knows": put(("meta", "format"), 2),
    'host: there is no member "nme"': put(("host", "nme"), "x"),
    "host: name: a text is wanted": put(("host", "name"), 7),
    "host: name: longer than 1024 bytes": put(("host", "name"), "x" * 2000),
    "host: kernel: a zero byte is in it": put(("host", "kernel"), "6\0"),
    "host: user_hz: larger than 4294967295": put(("host", "user_hz"), 2**40),
    "host.anchor: boottime: a whole number from 0 on is wanted": put(("host", "anchor", "boottime"), -1),
    "host.tags: an object of at most 64 texts is wanted": put(("host", "tags"), {str(i): "" for i in range(65)}),
    "instants: a list of 1 to 1048576 instants is wanted": put(("instants",), []),
    "instants[1]: it begins after 0": put(("instants", 1), [5, 4]),
    "instants[1]: its number is not above": put(("instants", 1), [5, 6, 1]),
    "instants[2]: a time in ns since boot": put(("instants", 2), "soon"),
    "tables: a list of at most 1024": put(("tables",), [{}] * 1025),
    "tables[0]: table name": put(("tables", 0, "name"), "Process"),
    "tables[0].columns[0]: it has no semantics": put(("tables", 0, "columns", 0), {"name": "pid"}),
    'tables[0].columns[0]: type: "int" is none': put(("tables", 0, "columns", 0, "type"), "int"),
    "tables[0]: table process, column 1 (start_time): its scale divides by 0": put(("tables", 0, "columns", 1, "div"), 0),
    "tables[0]: table process, column 3 (ppid): it does not say what it counts": put(("tables", 0, "columns", 3, "unit"), "count"),
    "tables[0]: table process has two columns named pid": put(("tables", 0, "columns", 1, "name"), "pid"),
    "tables[0]: columns: a list of 1 to 4096": put(("tables", 0, "columns"), []),
    "tables[0]: at: places of instants below 4 are wanted, ascending": put(("tables", 0, "at"), [1, 1]),
    "tables[0]: it is read at no instant": put(("tables", 0, "at"), []),
    "tables[0]: rows: a list is wanted": put(("tables", 0, "rows"), {}),
    "tables[0].rows[1]: from 3 until 2: two instants below 4": put((*ROW, "from"), 3),
    "tables[0].rows[1]: from 1 until 9: two instants below 4": put((*ROW, "until"), 9),
    'tables[0].rows[1]: its table has no column "utim"': put((*ROW, "values", "utim"), 1),
    'tables[0].rows[1]: its table has no column "utime.0"': put((*ROW, "values", "utime.0"), 1),
    "tables[0].rows[1]: pid: a key does not change": put((*ROW, "values", "pid"), [[1, 4], [2, 5]]),
    "tables[0].rows[1]: utime: [instant, value] is wanted, instants ascending from 1 to 2":
        put((*ROW, "values", "utime"), [[0, 1]]),
    "tables[0].rows[1]: utime: a whole number from 0 on is wanted": put((*ROW, "values", "utime"), [[1, -1]]),
    "tables[0].rows[1]: stime: a whole number from 0 on is wanted": put((*ROW, "values", "stime"), "18446744073709551616"),
    'tables[0].rows[1]: comm: a text, or {"hex": "digits"}': put((*ROW, "values", "comm"), {"hex": "f"}),
    "tables[0].rows[1]: comm: longer than 65535 bytes": put((*ROW, "values", "comm"), "x" * 65536),
    "tables[1].rows[0]: an event is of one instant": put(("tables", 1, "rows", 0, "until"), 2),
}


@pytest.mark.parametrize("says", WRONG)
def test_what_is_wrong_is_said_with_its_place(sonde, by_hand, tmp_path, says):
    fixture = copy.deepcopy(by_hand)
    if says.startswith("tables[1].rows"):
        fixture["tables"][1]["rows"][0]["from"] = 1
    WRONG[says](fixture)
    done = sonde("replay", "-o", tmp_path / "r.sonde", "-", input=json.dumps(fixture))
    assert done.returncode == 1 and done.stderr.startswith(f"sonde replay: -: {says}") and done.stderr.count("\n") == 1
    assert not (tmp_path / "r.sonde").exists()


@pytest.mark.parametrize("text, says", [
    ("", "line 1: no JSON"),
    ("[", "line 1: no JSON"),
    ("[" * 100000, "line 1: no JSON"),
    ('{"meta": 1, "meta": 2}', "no JSON: duplicate object key"),
    ("[]", "the document: an object is wanted"),
    ("{}", "meta: an object is wanted"),
    ('{"meta": {"document": "sonde report", "format": 1}}', "meta: no fixture that this version knows"),
    ('{"mta\x1b": 1}', "no JSON"),
    ('{"mta\\u001b": 1}', 'there is no member "mta\\x1b"'),
])
def test_other_documents_are_refused(sonde, tmp_path, text, says):
    done = sonde("replay", "-o", tmp_path / "r.sonde", "-", input=text)
    assert done.returncode == 1 and says in done.stderr and done.stderr.count("\n") == 1 and "\x1b" not in done.stderr


@pytest.mark.limit(300)
def test_few_bytes_can_not_ask_for_much(sonde, by_hand, tmp_path):
    """A million instants and ten thousand rows of a table with a thousand columns: 8 * 10^13 bytes of values."""
    table = by_hand["tables"][0]
    table["columns"] += [{"name": f"c{i}", "semantics": "gauge"} for i in range(1000)]
    table["rows"] = [{"values": {"pid": i, "start_time": 1}} for i in range(10000)]
    fixture = {**by_hand, "instants": list(range(1, 1000001)), "tables": [table]}
    done = sonde("replay", "-o", tmp_path / "r.sonde", "-", input=json.dumps(fixture), timeout=250)
    assert done.returncode == 1 and "more values in all than a recording may" in done.stderr


def test_never_over_what_is_there(sonde, replay, by_hand, profiled, tmp_path):
    before = profiled.read_bytes()
    done = sonde("replay", "-o", profiled, "-", input=json.dumps(by_hand))
    assert done.returncode == 1 and "is there already" in done.stderr and profiled.read_bytes() == before
    done = sonde("export", f"--fixture={profiled}", profiled)
    assert done.returncode == 1 and "a recording is there" in done.stderr and profiled.read_bytes() == before
    assert replay(by_hand).stat().st_mode & 0o777 == 0o600
    missing = sonde("replay", "-o", tmp_path / "no" / "r.sonde", "-", input=json.dumps(by_hand))
    assert missing.returncode == 1 and "No such file" in missing.stderr


@pytest.mark.parametrize("words", [
    ["replay"], ["replay", "x"], ["replay", "-o", "y"], ["replay", "-o", "", "x"], ["replay", "-o", "y", "x", "z"],
    ["replay", "--lable", "x"], ["replay", "x", "-o"], ["export", "x"], ["export", "--fixture"], ["export", "--fixture=", "x"],
    ["export", "--fixture", "x", "y"], ["export", "--fixtur=a", "--bad", "x"], ["export", "--fixture", "--since", "1s", "-"],
], ids=" ".join)
def test_misuse(sonde, words):
    done = sonde(*words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stderr.startswith(f"sonde {words[0]}: ")


@pytest.mark.parametrize("verb", ["replay", "export"])
def test_help(sonde, verb):
    done = sonde(verb, "--help")
    assert done.returncode == 0 and "examples:" in done.stdout and done.stdout == sonde("help", verb).stdout


def test_damage_is_a_gap_in_both(sonde, replay, demo, tmp_path):
    """What was whole is in the fixture; it is as the damaged file tells it."""
    damaged = tmp_path / "damaged.sonde"
    bytes_ = demo.read_bytes()
    damaged.write_bytes(bytes_[: len(bytes_) * 2 // 3])
    done = sonde("export", "--fixture", damaged)
    assert done.returncode == 0 and "not whole" in done.stderr
    again = replay(done.stdout)
    assert sonde("summary", "--json", again).stdout == sonde("summary", "--json", damaged).stdout
