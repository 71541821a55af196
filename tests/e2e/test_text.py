"""The collector text: declared columns of this machine's own files, beside what Python reads of them."""

from pathlib import Path

from live import rows


def run(sonde, tmp_path, sections, verb="agent", *more):
    config = tmp_path / "text.ini"
    config.write_text(f"[agent]\ninterval = 100ms\n{sections}\n[sink:stdout]\nformat = json\n")
    return sonde(verb, "-c", config, *more)


def test_a_keyed_file(sonde, tmp_path):
    keys = "column = total gauge kib MemTotal:\ncolumn = swap gauge kib SwapTotal:\ncolumn = unit info none MemTotal::2\n"
    done = run(sonde, tmp_path, f"[text mem]\nfile = /proc/meminfo\n{keys}", "agent", "--max-frames", 1)
    (row,) = rows(done.stdout, "text_mem")
    said = {line.split()[0]: int(line.split()[1]) for line in open("/proc/meminfo")}
    assert row["keys"] == {"file": "/proc/meminfo"}
    assert row["values"] == {"total": said["MemTotal:"], "swap": said["SwapTotal:"], "unit": "kB"}


def test_a_file_of_columns(sonde, tmp_path):
    """Mounts, a row each; what is declared of a unit is told by explain of the recording."""
    keys = "column = point key none 2\ncolumn = kind info none 3\n"
    done = run(sonde, tmp_path, f"[text]\nfile = /proc/self/mounts\nformat = columns\n{keys}", "agent", "--max-frames", 1)
    found = {(row["keys"]["point"], row["values"]["kind"]) for row in rows(done.stdout, "text")}
    assert found == {tuple(line.split()[1:3]) for line in open("/proc/self/mounts")}


def test_files_that_come_and_are_replaced(agent, tmp_path, wait_until):
    """One is missing at first, the other is replaced by rename."""
    here, later = tmp_path / "here", tmp_path / "later"
    here.write_text("jobs 1\n")
    config = tmp_path / "text.ini"
    config.write_text(f"[agent]\ninterval = 50ms\n[text]\nfile = {here}\nfile = {later}\ncolumn = jobs gauge count:jobs jobs\n"
                      "[sink:stdout]\nformat = json\nflush = 0s\n")
    running = agent("agent", "-c", config)
    seen = lambda path: {row["values"].get("jobs") for row in rows(running.stdout, "text") if row["keys"]["file"] == str(path)}
    wait_until(lambda: seen(here) == {1})
    later.write_text("jobs -7\n")
    wait_until(lambda: seen(later) == {-7})
    (tmp_path / "new").write_text("jobs 2\n")
    (tmp_path / "new").rename(here)
    wait_until(lambda: seen(here) == {1, 2})
    assert running.end() == 0
    notes = [row["values"]["text"] for row in rows(running.stdout, "note") if row["values"]["instance"] == "text"]
    assert notes == [f"{later} can't be read: No such file or directory"]


def test_mistakes_name_their_line(sonde, tmp_path):
    for column, says in {"jobs gauge jobs 1": "the unit is none, count:WHAT", "jobs number none 1": "the kind is key, counter",
                         "jobs": "NAME KIND UNIT WHERE"}.items():
        done = run(sonde, tmp_path, f"[text]\nfile = /proc/loadavg\nformat = columns\ncolumn = {column}", "check")
        assert done.returncode != 0 and "text.ini:6: [text]" in done.stderr and says in done.stderr, done.stderr
    done = run(sonde, tmp_path, "[text]\nformat = verbatim", "check")
    assert done.returncode != 0 and "file" in done.stderr


def test_the_sample_section_is_right(sonde, root, tmp_path):
    section = (Path(root) / "plugins/text/text.ini").read_text()
    done = run(sonde, tmp_path, section, "agent", "--max-frames", 1)
    (row,) = rows(done.stdout, "text_file_nr")
    assert row["values"]["maximum"] == int(Path("/proc/sys/fs/file-nr").read_text().split()[2])
