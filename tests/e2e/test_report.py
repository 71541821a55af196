"""sonde report: a recording of this machine, what is said of it, and that its numbers are those of the recording."""

import datetime
import json
import os
import re
import signal
import time
from pathlib import Path

import jsonschema
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


def test_says_what_it_judged(sonde, root, recording):
    report = sonde("report", recording, check=True)
    assert report.stderr == ""
    first = re.match(r"(\d+) found(?: in \d+ places)?, (\d+) clear, (\d+) not judged\n", report.stdout)
    assert first and sum(map(int, first.groups())) == len(re.findall(r"^## ", (root / "docs/findings.md").read_text(), re.M))
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


def strict(tmp_path):
    """One finding on every machine, however busy it is."""
    config = tmp_path / "strict.ini"
    config.write_text("[analyzer:memory]\nlow_available = 0.0001\nminor_faults = 1000000000\n[analyzer:cpu]\nenabled = no\n")
    return config


def document(sonde, recording, *options):
    return json.loads(sonde("report", "--json", *options, recording, check=True).stdout)


def test_json_is_as_its_schema_says(sonde, recording, root, tmp_path):
    schema = json.loads((root / "docs/report.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    report = document(sonde, recording)
    validator.validate(report)
    assert report["topology"]["nodes"] or not os.path.exists("/sys/devices/system/node/online")
    # With findings too.
    report = document(sonde, recording, "-c", strict(tmp_path))
    validator.validate(report)
    assert report["findings"][0]["id"] == "mem.low_available" and report["findings"][0]["evidence"]
    assert report["catalogue"]["found"] == len({each["id"] for each in report["findings"]})
    # The validator would have told.
    report["findings"][0]["severity"] = "bad"
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(report)


def test_json_and_text_say_the_same(sonde, recording):
    report = document(sonde, recording)
    found = metrics(sonde("report", recording, check=True).stdout)
    told = {metric["name"]: metric for metric in report["metrics"] if not metric["about"]}
    assert len(told) > 25
    near(found["cpu.utilisation"], 100 * told["cpu.utilisation"]["value"])
    near(found["mem.faults"], told["mem.faults"]["value"])
    assert {"CPU", "run queue", "memory", "huge pages", "disks", "network"} <= {line["resource"] for line in report["use"]}


def test_series_are_those_of_the_recording(sonde, recording):
    """A point for each second, but for ticks that were missed; the whole lies among them."""
    report = document(sonde, recording)
    series = {each["metric"]: each for each in report["series"]}
    rows = values(sonde, recording, "vmstat")
    seconds = (rows[-1]["time"] - rows[0]["time"]) / 1e9
    faults = series["mem.faults"]
    assert 2 <= len(faults["time"]) == len(faults["value"]) <= seconds + 1.5
    assert faults["time"] == sorted(faults["time"]) and 0 < faults["time"][0] < 1.5
    whole = (rows[-1]["values"]["pgfault"] - rows[0]["values"]["pgfault"]) / seconds
    assert min(faults["value"]) <= whole * 1.001 and whole <= max(faults["value"]) * 1.001


def test_topology_is_that_of_the_machine(sonde, tmp_path, root):
    """A machine of its own: two nodes with a gap between their numbers, the second without CPUs."""
    nodes = tmp_path / "tree/sys/devices/system/node"
    for node, cpus, memory, distance in ((0, "0-1", 1000, "10 21"), (2, "", 3000, "21 10")):
        folder = nodes / f"node{node}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(cpus + "\n")
        (folder / "distance").write_text(distance + "\n")
        (folder / "meminfo").write_text(f"Node {node} MemTotal:       {memory} kB\nNode {node} MemFree: 10 kB\n")
        (folder / "numastat").write_text("numa_hit 1\nnuma_miss 0\n")
    (nodes / "online").write_text("0,2\n")
    for cpu in ("cpu0", "cpu1"):
        (nodes.parent / "cpu" / cpu).mkdir(parents=True)
    (nodes.parent / "cpu/online").write_text("0-1\n")
    path = tmp_path / "nodes.sonde"
    sonde("record", "-q", "--root", tmp_path / "tree", "-i", "100ms", "--max-frames", "3", "-o", path, check=True)
    report = document(sonde, path)
    jsonschema.validate(report, json.loads((root / "docs/report.schema.json").read_text()))
    assert report["topology"]["nodes"] == [
        {"node": 0, "cpus": "0-1", "memory": 1024000, "distances": [10, 21]},
        {"node": 2, "cpus": "", "memory": 3072000, "distances": [21, 10]},
    ]


def test_markdown_is_a_document_of_tables(sonde, recording):
    text = sonde("report", "--md", recording, check=True).stdout
    assert re.match(r"# .+: \d+ found(?: in \d+ places)?, \d+ clear, \d+ not judged\n", text)
    assert "\n| CPU | " in text and "\n## Data quality\n" in text
    table = re.search(r"\n## Metrics\n\n((?:\|.*\n)+)", text)[1].splitlines()
    assert len(table) > 25
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {6}


@pytest.mark.parametrize("form", ["--json", "--md"])
def test_documents_are_the_same_everywhere(sonde, recording, form):
    here = sonde("report", form, recording, text=False, check=True).stdout
    for zone, locale in (("Asia/Kathmandu", "C.UTF-8"), ("America/St_Johns", "de_DE.UTF-8")):
        there = sonde("report", form, recording, text=False, check=True, env={**os.environ, "TZ": zone, "LC_ALL": locale})
        assert there.stdout == here


def test_times_are_those_of_the_recorded_host(sonde, tmp_path):
    """Recorded in Kathmandu, UTC+05:45, read elsewhere; what is shown can be typed back."""
    path = tmp_path / "kathmandu.sonde"
    sonde("record", "-q", "-d", "2", "-o", path, check=True, env={**os.environ, "TZ": "Asia/Kathmandu"})
    text = sonde("report", path, check=True, env={**os.environ, "TZ": "America/St_Johns"}).stdout
    window = re.search(r"^window    (\S+) (\S+)\.\d to \S+ \+05:45: ", text, re.M)
    first = values(sonde, path, "stat")[0]["time"] // 10**9
    assert f"{window[1]}T{window[2]}" == sonde_time(first + 20700)
    shown = document(sonde, path)["window"]["begin"]
    assert shown.startswith(f"{window[1]}T{window[2]}.") and shown.endswith("+05:45")
    later = f"{window[1]}T{window[2]}"
    assert sonde("report", "--since", later, path, env={**os.environ, "TZ": "UTC"}).returncode == 0
    assert sonde("report", "--until", later, path, env={**os.environ, "TZ": "UTC"}).returncode == 1


def sonde_time(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")


def test_a_stretch_of_it(sonde, recording):
    whole, part = document(sonde, recording)["window"], document(sonde, recording, "--since", "1.5s")["window"]
    assert part["end"] == whole["end"] and part["instants"] < whole["instants"]
    assert 1 < part["seconds"] <= whole["seconds"] - 1.5


@pytest.mark.parametrize("stretch", [("--since", "100s"), ("--since", "2s", "--until", "1s")], ids=" ".join)
@pytest.mark.parametrize("verb", ["report", "cat"])
def test_a_stretch_of_nothing_is_one_line(sonde, recording, verb, stretch):
    done = sonde(verb, *stretch, recording)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"sonde {verb}: {recording}: no instant lies in this stretch of time\n"


def test_several_documents_at_once(sonde, recording, tmp_path):
    text, page, data = tmp_path / "a.txt", tmp_path / "a.md", tmp_path / "a.json"
    done = sonde("report", "-o", text, f"--md={page}", f"--json={data}", recording, check=True)
    assert done.stdout == ""
    assert text.read_text() == sonde("report", recording).stdout
    assert page.read_text() == sonde("report", "--md", recording).stdout
    assert json.loads(data.read_text()) == document(sonde, recording)
    assert sonde("report", "--md", "--json", recording).returncode == 2


# ---- gates ----


def test_a_gate(sonde, recording, tmp_path):
    config = strict(tmp_path)
    found = sonde("report", "-c", config, "--fail-on", "warning", recording)
    assert found.returncode == 3
    assert "mem.low_available" in found.stdout
    assert re.fullmatch(r"sonde report: \S+: 1 finding of severity warning or above\n", found.stderr)
    assert sonde("report", "-c", config, "--fail-on", "info", recording).returncode == 3
    assert sonde("report", "-c", config, recording).returncode == 0
    # Below it: whatever was not judged is allowed.
    calm = sonde("report", "-c", config, "--fail-on", "critical", "--allow-gaps", recording)
    assert calm.returncode == 0, calm.stderr


def test_a_gate_does_not_take_silence_for_health(sonde, tmp_path):
    """Recorded without processes: what is judged from them is not judged."""
    config = tmp_path / "little.ini"
    path = tmp_path / "little.sonde"
    config.write_text(f"[agent]\ninterval = 200ms\n[meminfo]\n[vmstat]\n[sink:file]\npath = {path}\n")
    sonde("agent", "-c", config, "--max-frames", 6, check=True)
    gate = ("report", "--fail-on", "critical", path)
    done = sonde(*gate)
    assert done.returncode == 1 and re.search(r"\d+ findings could not be judged", done.stderr)
    assert sonde(*gate, "--allow-gaps").returncode == 0
    assert sonde(*gate, "--require", "mem.low_available,mem.oom").returncode == 0
    done = sonde(*gate, "--require", "mem.low_available,cpu.steal")
    assert done.returncode == 1 and "cpu.steal could not be judged" in done.stderr
    done = sonde(*gate, "--require", "mem.lo_available", "--allow-gaps")
    assert done.returncode == 1 and "--require mem.lo_available: no analyzer judges this; did you mean mem.low_available?" in done.stderr


def test_a_slip_of_the_pen_is_told_whatever_was_found(sonde, recording, tmp_path):
    """The catalogue has no mem.low_avalable, while mem.low_available is found."""
    gate = ("report", "-c", strict(tmp_path), "--fail-on", "info", "-o", tmp_path / "r.txt", recording, "--require")
    found = sonde(*gate, "mem.low_available")
    assert found.returncode == 3 and "of severity info or above" in found.stderr
    slip = sonde(*gate, "mem.low_available,mem.low_avalable")
    assert slip.returncode == 1 and "--require mem.low_avalable: no analyzer judges this; did you mean mem.low_available?" in slip.stderr
    assert found.stderr in slip.stderr


def test_a_gap_closes_a_gate(sonde, agent, tmp_path, wait_until):
    """A stopped recorder misses ticks."""
    path = tmp_path / "gap.sonde"
    recorder = agent("record", "-q", "-i", "100ms", "-d", "3", "-o", path)
    wait_until(lambda: path.exists() and path.stat().st_size)
    recorder.send(signal.SIGSTOP)
    time.sleep(1)
    recorder.send(signal.SIGCONT)
    assert recorder.wait(20) == 0
    gate = ("report", "-c", strict(tmp_path), "--fail-on", "critical", "--require", "mem.oom", path)
    done = sonde(*gate)
    assert done.returncode == 1 and re.search(r"\d+ gaps in the data; --allow-gaps", done.stderr)
    assert sonde(*gate, "--allow-gaps").returncode == 0


@pytest.mark.parametrize("options", [("--fail-on", "bad"), ("--require", "mem.oom"), ("--allow-gaps",), ("--json=",)])
def test_a_wrong_gate_is_misuse(sonde, recording, options):
    assert sonde("report", *options, recording).returncode == 2


def test_thresholds_from_a_configuration(sonde, recording, tmp_path):
    config = tmp_path / "strict.ini"
    config.write_text("[analyzer:memory]\nlow_available = 0.0001\nminor_faults = 1000000000\n")
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
    found = 0
    for folder in sorted((root / "analyzers").iterdir()):
        source = (folder / f"{folder.name}.c").read_text()
        catalogue = set(re.findall(r'^\t\{ "([a-z]+\.[a-z_]+)",', source, re.M))
        found += len(catalogue)
        assert catalogue <= sections
        for key in re.findall(r'SONDE_(?:THRESHOLD|TIME)\(\s*"([a-z_]+)"', source):
            assert f"`{key}`" in page, key
    assert found == len(sections) >= 35


def test_streams_read_columns_that_exist(sonde, root):
    """The names that the analyzers read are those that the collectors give."""
    seen = 0
    for path in sorted((root / "analyzers").glob("*/*.c")):
        source = path.read_text()
        source = source.replace("TOTAL", '"user nice system idle iowait? irq? softirq? steal?"')
        source = source.replace("WORK", '"user nice system irq? softirq?"')
        for table, rest in re.findall(r'\] = \{\s*"[^"]+", "([a-z_]+)",(.*?)\}', source, re.S):
            for columns in re.findall(r'\.(?:plus|minus|over) = "([^"]*)"', rest):
                for column in columns.split():
                    # Of perf_event, tables are made at the start.
                    if column in ("time", "wall") or column[-1] == "*" or table.startswith("perf_event"):
                        continue
                    word = f"{table}.{column.rstrip('?')}"
                    assert sonde("explain", word).returncode == 0, word
                    seen += 1
    assert seen > 90


def test_what_is_missing_is_said_once(sonde, tmp_path):
    """Two alternatives of what a finding needs may lack the same table."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/loadavg").write_text("0.50 1.25 2.75 3/456 7890\n")
    path = tmp_path / "little.sonde"
    sonde("record", "-q", "--root", tmp_path, "-i", "10ms", "--max-frames", "3", "-o", path, check=True)
    told = json.loads(sonde("report", "--json", path, check=True).stdout)
    reasons = [line["reason"] for line in told["catalogue"]["judgements"] if "reason" in line]
    assert len(reasons) >= 14
    for reason in reasons:
        parts = re.split(r"; (?=no )", reason)
        assert len(parts) == len(set(parts)), reason


def test_ticks_of_unknown_length(sonde, tmp_path):
    """Of a copied tree nobody knows USER_HZ: that is why, and not that /proc/stat lacks what is in it."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_bytes(Path("/proc/stat").read_bytes())
    (tmp_path / "a.ini").write_text(f"[agent]\nroot = {tmp_path}\ninterval = 10ms\n[cpu]\n[sink:file]\npath = {tmp_path}/a.sonde\n")
    done = sonde("agent", "-c", tmp_path / "a.ini", "--max-frames", "5")
    assert done.returncode == 0, done.stderr
    report = json.loads(sonde("report", "--json", tmp_path / "a.sonde").stdout)
    reasons = {one["id"]: one["reason"] for one in report["catalogue"]["judgements"] if one["verdict"] == "not_judged"}
    for name in ("cpu.imbalance", "cpu.irq_imbalance", "cpu.steal", "cpu.iowait"):
        assert reasons[name] == "times in ticks, and USER_HZ of the recorded machine is not known"
    assert reasons["mem.low_available"] == "no meminfo in the recording"
