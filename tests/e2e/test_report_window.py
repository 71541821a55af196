"""sonde report --window: only the worst stretch of this length. The recording is of rows of vmstat that swap in their second minute."""

import json

import pytest
from importing import imported  # noqa: F401

HEADER = "r b swpd free si so bi bo in cs us sy id wa st\n"


def rows(*minutes):
    """Each {si and so in KiB/s, wa in percent}, a row a second."""
    lines = ["0 0 0 1000 0 0 0 0 100 200 10 5 85 0 0\n"]
    for swap, wait in minutes:
        lines += [f"0 0 0 1000 {swap} {swap} 0 0 100 200 10 5 {85 - wait} {wait} 0\n"] * 60
    return HEADER + "".join(lines)


@pytest.fixture
def report(sonde, imported):
    def run(text, *options):
        imported("vmstat", text)
        return json.loads(sonde("report", "--json", *options, imported.path, check=True).stdout)

    return run


def stretch(document):
    """Where in the recording, which has no date, it begins and ends."""
    return [document["window"]["from"], document["window"]["to"]]


def test_the_worst_minute(report):
    """A critical in one minute weighs more than a lesser finding in two others; of the whole, swapping is a third as strong."""
    text = rows((0, 30), (400, 0), (0, 30))
    document = report(text, "--window", "1min")
    assert [finding["id"] for finding in document["findings"]] == ["mem.swapping"]
    assert stretch(document) == [60, 120]
    (swapped,) = [metric["value"] for metric in document["metrics"] if metric["name"] == "mem.swap_in"]
    assert swapped == pytest.approx(100)  # pages of 4 KiB
    assert stretch(report(text)) == [0, 180]


READ_ONCE = {"topology", "topology_cpu", "topology_node", "topology_cache", "sysctl", "numa_distance", "thp", "hugetlb"}


def read_at_the_start(document):
    """These tables and no pressure, which a note says: all as after a start long before the stretch."""
    for table in document["tables"]:
        if table["name"] in READ_ONCE:
            table["at"] = [0]
            table["rows"] = [{"values": {name: value[0][1] if isinstance(value, list) else value for name, value in row["values"].items()}}
                             for row in table["rows"] if not row.get("from")]
    document["tables"] = [table for table in document["tables"] if table["name"] != "psi"]
    document["tables"].append({
        "name": "note", "instance": "sonde", "events": True,
        "columns": [{"name": name, "type": "string", "semantics": "info"} for name in ("instance", "level", "text")],
        "rows": [{"from": 0, "values": {"instance": "psi", "level": "notice", "text": "boot with psi=1"}}]})


@pytest.mark.parametrize("stretch", [("--since=-20s",), ("--since", "30s", "--until", "40s"), ("--since=-30s", "--window=10s")])
def test_what_was_read_once_stands(sonde, build, tmp_path, stretch):
    """A stretch knows the machine, its settings, and why a table is not there, as the whole does."""
    if not (build / "libexec/sonde-replay").exists():
        pytest.skip("sonde replay was left out of this build: jansson is not there")
    fixture, path = tmp_path / "f.json", tmp_path / "f.sonde"
    sonde("demo", "numa_misplaced", "-o", path, check=True)
    sonde("export", f"--fixture={fixture}", path, check=True)
    document = json.loads(fixture.read_text())
    read_at_the_start(document)
    fixture.write_text(json.dumps(document))
    path.unlink()
    sonde("replay", "-o", path, fixture, check=True)
    whole, part = (json.loads(sonde("report", "--json", *words, path, check=True).stdout) for words in ((), stretch))
    assert part["window"]["begin"] > whole["window"]["begin"]
    assert whole["topology"]["model"] and whole["topology"]["settings"]
    assert part["topology"] == whole["topology"]
    assert part["data_quality"]["notes"] == whole["data_quality"]["notes"]
    verdicts = [{judged["id"]: judged for judged in report["catalogue"]["judgements"]} for report in (whole, part)]
    for name in ("config.zone_reclaim", "config.perf_paranoid", "config.governor", "numa.remote_alloc", "hp.hugetlb_idle", "io.pressure"):
        assert verdicts[1][name] == verdicts[0][name], name
    assert "boot with psi=1" in verdicts[1]["io.pressure"]["reason"]


def test_within_a_range(report):
    document = report(rows((400, 0), (0, 30), (0, 0)), "--since", "60s", "--window", "30s")
    assert [finding["id"] for finding in document["findings"]] == ["cpu.iowait"]
    assert stretch(document) == [60, 90]  # the first of two that are equal


def test_shorter_than_an_interval(sonde, imported):
    """The text has a row every 5 s; the first is where the intervals begin."""
    imported("vmstat", rows((400, 0)), "--interval", "5s")
    done = sonde("report", "--json", "--window", "1s", imported.path, check=True)
    assert stretch(json.loads(done.stdout)) == [0, 5]
    assert done.stderr == f"sonde report: {imported.path}: its samples are further apart than --window, so the worst stretch has 5 s\n"
    done = sonde("report", "--json", "--window", "5s", imported.path, check=True)
    assert stretch(json.loads(done.stdout)) == [0, 5] and done.stderr == ""


def test_no_time_is_no_time(sonde, imported):
    """The text says no date."""
    imported("vmstat", rows((400, 0)))
    for form in ("-o/dev/stdout", "--md"):
        text = sonde("report", form, imported.path, check=True).stdout
        assert "+0.0 s to +60.0 s: 60.0 s, 61 instants, no date" in text and "UTC" not in text and "without a date" in text
        assert "1970" not in text and "00:00:" not in text
    text = sonde("report", "--json", imported.path, check=True).stdout
    document = json.loads(text)
    assert "1970" not in text and document["findings"]
    assert (document["window"]["begin"], document["window"]["end"], document["window"]["seconds"]) == (None, None, 60)
    assert all((each["when"]["begin"], each["when"]["end"], each["when"]["from"] >= 0) == (None, None, True) for each in document["findings"])


def test_what_is_ignored_is_not_the_worst(report, tmp_path):
    (tmp_path / "a.ini").write_text("[analyzer:memory]\nignore = mem.swapping, host, known, never\n")
    assert stretch(report(rows((400, 0), (0, 30)), "--window", "1min", "-c", tmp_path / "a.ini")) == [60, 120]


def test_nothing_is_found_in_any(report):
    """Then all of it is told."""
    assert stretch(report(rows((0, 0), (0, 0)), "--window", "1min")) == [0, 120]


@pytest.mark.parametrize("words, says", [
    (["--window", "10ms", "x"], "1s or more"), (["--window", "soon", "x"], "1s or more"), (["--window", "1min", "-"], "stdin can't be read twice"),
])
def test_misuse(sonde, words, says):
    done = sonde("report", *words)
    assert done.returncode == 2 and says in done.stderr
