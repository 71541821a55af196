"""`ignore` of an analyzer: a finding that is known is counted and listed as ignored, with its reason, until a day; in reports, at gates, live.
What is found of the demo is known from the numbers that were put into it."""

import json
import threading

import pytest
from live import rows

LINE = "mem.swapping, host, batch, at night, 2027-01-31"


@pytest.fixture(scope="module")
def recording(sonde, tmp_path_factory):
    """Memory pressure on 2026-01-05: two criticals of the host and four warnings."""
    folder = tmp_path_factory.mktemp("ignore")
    sonde("demo", "memory_pressure", "-o", folder / "raw.sonde", check=True)
    sonde("reparse", folder / "raw.sonde", "-o", folder / "a.sonde", check=True)
    return folder / "a.sonde"


@pytest.fixture
def config(tmp_path):
    def write(*lines, section="analyzer:memory"):
        path = tmp_path / "a.ini"
        path.write_text(f"[{section}]\n" + "".join(f"ignore = {line}\n" for line in lines))
        return path

    return write


def ids(findings):
    return [(finding["id"], finding["about"]) for finding in findings]


def test_report(sonde, recording, config):
    whole = json.loads(sonde("report", "--json", recording).stdout)
    report = json.loads(sonde("report", "--json", "-c", config(LINE), recording, check=True).stdout)
    (ignored,) = report["ignored"]
    assert (ignored["reason"], ignored["until"]) == ("batch, at night", "2027-01-31")
    assert ignored["finding"] == next(finding for finding in whole["findings"] if finding["id"] == "mem.swapping")
    assert report["findings"] == [finding for finding in whole["findings"] if finding["id"] != "mem.swapping"]
    assert whole["ignored"] == [] and whole["catalogue"]["ignored"] == 0
    assert (report["catalogue"]["ignored"], report["catalogue"]["found"]) == (1, whole["catalogue"]["found"] - 1)
    (judged,) = [line for line in report["catalogue"]["judgements"] if line["id"] == "mem.swapping"]
    assert (judged["verdict"], judged["reason"]) == ("ignored", "batch, at night")


def test_documents(sonde, recording, config):
    """The first line counts it, a line says why."""
    text = sonde("report", "-c", config(LINE), recording, check=True).stdout
    assert ", 1 ignored, " in text.splitlines()[0]
    assert "batch, at night (until 2027-01-31)" in text and "mem.swapping, about host" in text
    markdown = sonde("report", "--md", "-c", config(LINE), recording, check=True).stdout
    assert ", 1 ignored, " in markdown.splitlines()[0] and "## Ignored" in markdown
    assert "batch, at night, until 2027-01-31" in markdown
    assert "gnored" not in sonde("report", recording, check=True).stdout


def test_about_is_a_pattern(sonde, recording, config):
    """One of two processes; the finding is still found."""
    report = json.loads(sonde("report", "--json", "-c", config("mem.major_faults, process 3200 (*), known, never"), recording).stdout)
    assert ids([one["finding"] for one in report["ignored"]]) == [("mem.major_faults", "process 3200 (java)")]
    assert ("mem.major_faults", "process 3201 (java)") in ids(report["findings"])
    (judged,) = [line for line in report["catalogue"]["judgements"] if line["id"] == "mem.major_faults"]
    assert judged["verdict"] == "found"


def test_gate(sonde, recording, config):
    """What is ignored does not close it, and is judged."""
    gate = ["report", "--fail-on", "critical", "--require", "mem.swapping,mem.pressure", "-o", "/dev/null"]
    assert sonde(*gate, recording).returncode == 3
    assert sonde(*gate, "-c", config("mem.swapping, host, known, never"), recording).returncode == 3
    assert sonde(*gate, "-c", config("mem.swapping, *, known, never", "mem.pressure, host, known, never"), recording).returncode == 0


@pytest.mark.parametrize("until, over", [("2026-01-05", False), ("2026-01-04", True)])
def test_until(sonde, recording, config, until, over):
    """The day itself is in it, and it is the recording's day, not today: the report is the same for ever."""
    report = json.loads(sonde("report", "--json", "-c", config(f"mem.swapping, host, known, {until}"), recording).stdout)
    assert bool(report["ignored"]) != over
    assert (("mem.swapping", "host") in ids(report["findings"])) == over
    told = [note["text"] for note in report["data_quality"]["notes"] if "ended with" in note["text"]]
    assert told == ([f"ignore = mem.swapping, host ended with {until}: it is told again"] if over else [])


@pytest.mark.parametrize("line, says", [
    ("mem.swaping, host, known, never", 'called "mem.swaping"; did you mean "mem.swapping"?'),
    ("cpu.steal, host, known, never", 'no finding of it is called "cpu.steal"'),
    ("mem.swapping, host, known", "id, about, reason, until"),
    ("mem.swapping, host, , never", "for which reason"),
    ("mem.swapping, , known, never", "what is it about"),
    ("mem.swapping, host, known, 2027-02-31", "a day, as 2027-01-31, or never"),
    ("mem.swapping, host, known, soon", "a day, as 2027-01-31, or never"),
    ("mem.swapping, host, known, 2027-01-31x", "a day, as 2027-01-31, or never"),
])
def test_mistakes(sonde, recording, config, tmp_path, line, says):
    """With file and line, where a report is asked for and where the configuration is checked; nothing is reported."""
    path = config("mem.oom, host, known, never", line)
    for done in (sonde("report", "-c", path, recording), sonde("check", "-c", path)):
        assert done.returncode in (1, 2) and not done.stdout
        assert any(f"{path}:3: " in error and says in error for error in done.stderr.splitlines()), done.stderr


class Swapping(threading.Thread):
    """A /proc/vmstat whose pages go out and in while .on; written in place, since a collector keeps it open."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        (folder / "proc").mkdir()
        self.path, self.on, self.over, self.pages = folder / "proc/vmstat", True, threading.Event(), 10**6
        self.write()

    def write(self):
        mode = "r+" if self.path.exists() else "w"
        with open(self.path, mode) as file:
            file.write(f"pswpin {self.pages}\npswpout {self.pages}\noom_kill 0\n")

    def run(self):
        while not self.over.wait(0.02):
            self.pages += 1000 * self.on
            self.write()


@pytest.fixture
def swapping(tmp_path):
    (tmp_path / "root").mkdir()
    made = Swapping(tmp_path / "root")
    made.start()
    yield made
    made.over.set()
    made.join()


AGENT = """[agent]
root = {root}
interval = 100ms
[vmstat]
[analyzer:memory]
every = 1s
clear = 5s
hold = {hold}
{ignore}
[sink:stdout]
format = json
tables = finding, judgement
flush = 0s
"""


def states(running):
    return [(row["values"]["state"], row["values"].get("ignored")) for row in rows(running.stdout, "finding")]


@pytest.mark.parametrize("line, reason", [("", None), ("ignore = mem.swapping, host, known, never", "known")])
def test_live(agent, tmp_path, swapping, wait_until, line, reason):
    """It opens, once; it closes when it is over, once; where it is ignored, that stands in each of its rows."""
    path = tmp_path / "agent.ini"
    path.write_text(AGENT.format(root=tmp_path / "root", hold="200ms", ignore=line))
    running = agent("agent", "-c", path)
    wait_until(lambda: states(running), timeout=60)
    swapping.on = False
    wait_until(lambda: len(states(running)) > 1, timeout=60)
    assert states(running) == [("opened", reason), ("closed", reason)]
    verdicts = {row["values"]["verdict"] for row in rows(running.stdout, "judgement") if row["keys"]["id"] == "mem.swapping"}
    assert ("ignored" if reason else "found") in verdicts and ("found" if reason else "ignored") not in verdicts
    assert running.end() == 0


def test_a_reload_closes_nothing(agent, tmp_path, swapping, wait_until):
    """Another threshold is another analyzer: what was open goes on, and closes there."""
    path = tmp_path / "agent.ini"
    path.write_text(AGENT.format(root=tmp_path / "root", hold="200ms", ignore=""))
    running = agent("agent", "-c", path)
    wait_until(lambda: states(running), timeout=60)
    judged = len(rows(running.stdout, "judgement"))
    path.write_text(AGENT.format(root=tmp_path / "root", hold="300ms", ignore=""))
    running.send(1)
    wait_until(lambda: len(rows(running.stdout, "judgement")) > judged + 40, timeout=60)
    assert states(running) == [("opened", None)]
    swapping.on = False
    wait_until(lambda: len(states(running)) > 1, timeout=60)
    assert states(running) == [("opened", None), ("closed", None)]
    assert running.end() == 0
