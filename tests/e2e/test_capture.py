"""capture = raw and sonde reparse: today's parsers over the bytes of then say the same, byte for byte."""

import json

from live import rows


def tables(text):
    return [line for line in text.splitlines() if json.loads(line)["table"] != "raw"]


def test_live_capture_reparsed_is_the_same(sonde, tmp_path):
    old, new = tmp_path / "old.sonde", tmp_path / "new.sonde"
    done = sonde("record", "--capture", "-i", "50ms", "--max-frames", "5", "-o", old)
    assert done.returncode == 0, done.stderr
    done = sonde("reparse", old, "-o", new)
    assert done.returncode == 0, done.stderr
    before = sonde("cat", "--json", old).stdout
    after = sonde("cat", "--json", new).stdout
    assert len(tables(before)) > 50
    assert tables(after) == tables(before)
    assert after == before  # the raw rows too, so that it can be done again


def test_raw_rows_are_the_files(sonde, tmp_path):
    """The text of a captured tree, whole: a file of 200,000 bytes comes in parts and goes back in one piece."""
    tree = tmp_path / "tree"
    (tree / "proc").mkdir(parents=True)
    lines = "".join(f"pgfault_{i:06d} {i}\n" for i in range(10000))
    (tree / "proc/vmstat").write_text("nr_free_pages 123\npgfault 77\n" + lines)
    (tree / "proc/loadavg").write_text("0.50 1.25 2.75 3/456 7890\n")
    config = tmp_path / "a.ini"
    old, new = tmp_path / "old.sonde", tmp_path / "new.sonde"
    config.write_text(f"[agent]\nroot = {tree}\ninterval = 20ms\ncapture = raw\n[loadavg]\n[vmstat]\n"
                      f"[sink:file]\npath = {old}\n")
    done = sonde("agent", "-c", config, "--max-frames", "2")
    assert done.returncode == 0, done.stderr
    raw = rows(sonde("cat", "--json", old).stdout, "raw")
    first = min(row["sequence"] for row in raw)
    reads = [row["values"] for row in raw
             if row["values"]["path"] == "/proc/vmstat" and row["values"]["call"] == "read" and row["sequence"] == first]
    parts = [read["part"] for read in reads]
    assert 3 in parts
    last = "".join(read["bytes"] for read in reads[parts.index(0, len(parts) - 4):])
    assert last == (tree / "proc/vmstat").read_text()
    done = sonde("reparse", old, "-o", new)
    assert done.returncode == 0, done.stderr
    assert sonde("cat", "--json", new).stdout == sonde("cat", "--json", old).stdout


def test_errors_are_captured(sonde, tmp_path):
    """A file that was not there then is not there again, whatever this machine has."""
    tree = tmp_path / "tree"
    (tree / "proc/pressure").mkdir(parents=True)
    (tree / "proc/pressure/io").write_text(
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n")
    config = tmp_path / "a.ini"
    old, new = tmp_path / "old.sonde", tmp_path / "new.sonde"
    config.write_text(f"[agent]\nroot = {tree}\n[psi]\ncapture = raw\n[sink:file]\npath = {old}\n")
    assert sonde("agent", "-c", config, "--max-frames", "1").returncode == 0
    assert sonde("reparse", old, "-o", new).returncode == 0
    psi = rows(sonde("cat", "--json", new).stdout, "psi")
    assert [(row["keys"]["resource"], row["values"]["some_total"]) for row in psi] == [("io", 5)]


def test_capture_in_a_worker(sonde, tmp_path):
    config = tmp_path / "a.ini"
    old, new = tmp_path / "old.sonde", tmp_path / "new.sonde"
    config.write_text("[agent]\ninterval = 50ms\ncapture = raw\n[loadavg]\nisolation = process\n"
                      f"[sink:file]\npath = {old}\n")
    done = sonde("agent", "-c", config, "--max-frames", "3")
    assert done.returncode == 0, done.stderr
    done = sonde("reparse", old, "-o", new)
    assert done.returncode == 0, done.stderr
    before = rows(sonde("cat", "--json", old).stdout, "loadavg")
    assert len(before) == 3
    assert rows(sonde("cat", "--json", new).stdout, "loadavg") == before


def test_without_raw_there_is_nothing_to_read(sonde, tmp_path):
    old = tmp_path / "old.sonde"
    assert sonde("record", "--max-frames", "1", "-o", old).returncode == 0
    done = sonde("reparse", old, "-o", tmp_path / "new.sonde")
    assert done.returncode == 1
    assert "--capture" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "new.sonde").exists()
