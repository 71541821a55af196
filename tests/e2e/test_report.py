"""sonde report: a recording of this machine, what is said of it, and that its numbers are those of the recording."""

import json
import os
import re

import pytest

pytestmark = pytest.mark.limit(180)


@pytest.fixture(scope="module")
def recording(sonde, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "machine.sonde"
    sonde("record", "-q", "-d", "4", "-o", path, check=True)
    return path


def metrics(text):
    """name -> what stands in its column of values."""
    return dict(re.findall(r"^  [-+ ] ([a-z][a-z0-9_.]*) +(\S+ ?\S*)  /proc", text, re.M))


def values(sonde, recording, table):
    lines = sonde("cat", "--json", "-t", table, recording, check=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def near(text, expected, share=0.05):
    value = float(text.split()[0])
    assert value == pytest.approx(expected, rel=share, abs=0.06), text


def test_says_what_it_judged(sonde, recording):
    report = sonde("report", recording, check=True)
    assert report.stderr == ""
    first = re.match(r"(\d+) found, (\d+) clear, (\d+) not judged\n", report.stdout)
    assert first and sum(map(int, first.groups())) == 14
    assert "\033" not in report.stdout
    assert "\nData quality\n" in report.stdout and "\n  ended     duration\n" in report.stdout


def test_numbers_are_those_of_the_recording(sonde, recording):
    found = metrics(sonde("report", recording, check=True).stdout)
    rows = values(sonde, recording, "vmstat")
    seconds = (rows[-1]["time"] - rows[0]["time"]) / 1e9
    faults = rows[-1]["values"]["pgfault"] - rows[0]["values"]["pgfault"]
    near(found["mem.faults"], faults / seconds)

    rows = [row for row in values(sonde, recording, "psi") if row["keys"]["resource"] == "cpu"]
    if rows:
        waited = rows[-1]["values"]["some_total"] - rows[0]["values"]["some_total"]
        near(found["cpu.pressure"], 100 * waited / 1e6 / seconds)

    rows = values(sonde, recording, "stat")
    first, last = rows[0]["values"], rows[-1]["values"]
    names = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"]
    total = sum(last[name] - first[name] for name in names)
    busy = total - sum(last[name] - first[name] for name in ("idle", "iowait", "steal"))
    near(found["cpu.utilisation"], 100 * busy / total)
    near(found["cpu.switches"], (last["ctxt"] - first["ctxt"]) / seconds)


def test_same_input_same_bytes(sonde, recording):
    here = sonde("report", recording, text=False, check=True).stdout
    for zone, locale in (("Asia/Kathmandu", "C.UTF-8"), ("America/St_Johns", "de_DE.UTF-8")):
        there = sonde("report", recording, text=False, check=True, env={**os.environ, "TZ": zone, "LC_ALL": locale})
        assert there.stdout == here


def test_thresholds_from_a_configuration(sonde, recording, tmp_path):
    config = tmp_path / "strict.ini"
    config.write_text("[analyzer:memory]\nlow_available = 0.0001\n")
    report = sonde("report", "-c", config, recording, check=True).stdout
    assert re.search(r"^warning   Available memory fell to \d+\.\d % of all", report, re.M)
    assert "mem.low_available, about host" in report
    assert "/proc/meminfo MemAvailable:" in report


def test_an_unknown_threshold_is_a_mistake(sonde, recording, tmp_path):
    config = tmp_path / "wrong.ini"
    config.write_text("[analyzer:memory]\nlow_availabel = 0.5\n")
    report = sonde("report", "-c", config, recording)
    assert report.returncode != 0
    assert "low_available" in report.stderr and report.stdout == ""


def test_never_over_a_recording(sonde, recording, tmp_path):
    before = recording.read_bytes()
    assert sonde("report", "-o", recording, recording).returncode != 0
    assert recording.read_bytes() == before
    page = tmp_path / "page.txt"
    sonde("report", "-o", page, recording, check=True)
    assert page.read_text() == sonde("report", recording, check=True).stdout


def test_every_finding_and_threshold_has_its_page(root):
    page = (root / "docs/findings.md").read_text()
    sections = set(re.findall(r"^## (\S+)$", page, re.M))
    for name in ("cpu", "memory"):
        source = (root / f"analyzers/{name}/{name}.c").read_text()
        catalogue = re.findall(r'\{ "((?:cpu|mem)\.[a-z_]+)",', source)
        assert len(catalogue) == 7
        assert set(catalogue) <= sections
        for key in re.findall(r'(?:F64|DURATION)\("([a-z_]+)"', source):
            assert f"`{key}`" in page, key


def test_streams_read_columns_that_exist(sonde, root):
    """The names that the analyzers read are those that the collectors give."""
    seen = 0
    for name in ("cpu", "memory"):
        source = (root / f"analyzers/{name}/streams.c").read_text()
        source = source.replace("TOTAL", '"user nice system idle iowait? irq? softirq? steal?"')
        source = source.replace("WORK", '"user nice system irq? softirq?"')
        for table, rest in re.findall(r'\] = \{\s*"[^"]+", "([a-z]+)",(.*?)\}', source, re.S):
            for columns in re.findall(r'\.(?:plus|minus|over) = "([^"]*)"', rest):
                for column in columns.split():
                    if column == "time" or column[-1] == "*":
                        continue
                    word = f"{table}.{column.rstrip('?')}"
                    assert sonde("explain", word).returncode == 0, word
                    seen += 1
    assert seen > 60
