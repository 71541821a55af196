"""capture = raw and sonde reparse: today's parsers over the bytes of then say the same, byte for byte."""

import errno
import filecmp
import json
import subprocess
import sys

import pytest

from compiling import ROOT, environment, shared_object
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


# What a section needs to have something to say here, of as few processes as it lets one choose.
NEEDS = {
    "perf_event": "group = soft = {page-faults,context-switches,task-clock}\n",
    "text": "file = /proc/swaps\nformat = verbatim\n",
    "taskstats": "pids = PID\nstand_in = all\n",
    "numa_maps": "pids = PID\nceiling = 1MiB\nsamples = 256\n",  # by move_pages(2)
    "smaps": "pids = PID\n",
    "outsiders": "tree = 1\ninterval = 1s\n",
    "process": "pids = PID\nthreads = yes\nsource = SOURCE\n",
}


def lines(sonde, path, file):
    """Of the recording as JSON, into a file: with the raw rows of a crowded machine it is large."""
    with open(file, "wb") as out:
        assert sonde("cat", "--json", path, stdout=out).returncode == 0
    return file


def captured_whole(sonde, names, sections, old, frames):
    """Records what every collector reads, into old.sonde and old.json. Whether all is there: nothing was dropped on the way, as a machine
    that is busy with other things may have it, and who has no rows has said why."""
    config = old.with_suffix(".ini")
    config.write_text(f"[agent]\ninterval = 100ms\ncapture = raw\n{sections}[sink:file]\npath = {old}\nring = 256MiB\n")
    done = sonde("agent", "-c", config, "--max-frames", frames)
    assert done.returncode == 0, done.stderr
    with open(lines(sonde, old, old.with_suffix(".json")), errors="surrogateescape") as text:
        found = [json.loads(line) for line in text if '"table":"raw"' not in line]
    dropped = [row for row in found if row["table"] == "gap" and row["values"]["reason"] != "missed"]
    told = {row["values"]["instance"] for row in found if row["table"] == "note"} | {row["instance"] for row in found}
    return not dropped and set(names) <= told


@pytest.mark.parametrize("source", ["proc", "bpf"])
def test_every_collector_is_reparsed(sonde, build, tmp_path, source):
    """Whatever a collector reads, files, counters, netlink messages, pages that were asked after: the same rows, byte for byte."""
    names = sorted(path.stem.removeprefix("collector-") for path in (build / "plugins").glob("collector-*.so"))
    assert len(names) > 20 and set(NEEDS) <= set(names)
    program = f"import sys; memory = bytearray(b'x') * {32 << 20}; print('there', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-S", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "there\n"
        sections = "".join(f"[{name}]\noptional = yes\n{NEEDS.get(name, '')}" for name in names)
        sections = sections.replace("PID", str(other.pid)).replace("SOURCE", source)
        for frames in (15, 45, 135):
            old, new = tmp_path / f"old{frames}.sonde", tmp_path / "new.sonde"
            if captured_whole(sonde, names, sections, old, frames):
                break
        else:
            pytest.skip("this machine is too busy to keep all that was read")
    done = sonde("reparse", old, "-o", new)
    assert done.returncode == 0, done.stderr
    assert filecmp.cmp(old.with_suffix(".json"), lines(sonde, new, tmp_path / "new.json"), shallow=False)


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


def test_a_first_sample_of_megabytes(sonde, tmp_path):
    """As thousands of processes make it: nothing of it is dropped, else nothing that follows could be read again."""
    proc = tmp_path / "tree/proc"
    proc.mkdir(parents=True)
    (proc / "stat").write_text("cpu 1 2 3 4 5 6 7 8 9 10\nintr 77" + " 0" * 4500000 + "\nctxt 5\n")
    old, new = tmp_path / "old.sonde", tmp_path / "new.sonde"
    assert sonde("record", "--capture", "-q", "--root", tmp_path / "tree", "-i", "50ms", "--max-frames", "2", "-o", old).returncode == 0
    assert sonde("reparse", old, "-o", new).returncode == 0
    found = rows(sonde("cat", "--json", "-t", "stat", new).stdout)
    assert [(row["values"]["intr"], row["values"]["ctxt"]) for row in found] == [(77, 5)] * 2


def test_pages_are_the_recorded_machines(sonde, build, tmp_path):
    """Case 137: text of a kernel with pages of 64 KiB, read again here: its page size is in the recording, and counts from the start on.
    Kernels before 3.17 do not say the size of pages in numa_maps; a huge page of 512 MiB is of order 13 there."""
    if not (build / "libexec/sonde-replay").exists():
        pytest.skip("without jansson there is no sonde replay")
    tree, config = tmp_path / "tree", tmp_path / "a.ini"
    for path, text in {
        "proc/42/stat": "42 (old) S 1 42 42 0 -1 0 0 0 0 0 5 6 0 0 20 0 1 0 75 2264576000 1981" + " 0" * 28 + "\n",
        "proc/42/numa_maps": "7f00 default anon=3 dirty=3 N0=3\n7f10 default heap anon=2 N0=2\n",
        "proc/buddyinfo": "Node 0, zone   Normal " + " 1" * 14 + "\n",
        "sys/kernel/mm/transparent_hugepage/hpage_pmd_size": f"{512 << 20}\n",
    }.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    files = [tmp_path / f"{name}.sonde" for name in ("tree", "made", "new")]
    config.write_text(f"[agent]\nroot = {tree}\ninterval = 50ms\ncapture = raw\n[numa_maps]\npids = 42\nlane = one\n[buddyinfo]\nlane = one\n"
                      f"[sink:file]\npath = {files[0]}\n")
    assert sonde("agent", "-c", config, "--max-frames", "1").returncode == 0
    fixture = json.loads(sonde("export", "--fixture", files[0]).stdout)
    assert fixture["host"]["page_size"] == 0  # a tree does not tell
    fixture["host"]["page_size"] = 65536
    (tmp_path / "made.json").write_text(json.dumps(fixture))
    assert sonde("replay", tmp_path / "made.json", "-o", files[1]).returncode == 0
    assert sonde("reparse", files[1], "-o", files[2]).returncode == 0
    found = {row["table"]: row["values"] for row in rows(sonde("cat", "--json", files[2]).stdout)}
    assert (found["numa_maps"]["bytes"], found["numa_maps"]["anon"]) == (5 * 65536, 3 * 65536)
    assert found["numa_maps_process"]["resident"] == 1981 * 65536
    # Of 2^14 - 1 free pages all but the one block of order 13 are in too small ones.
    assert found["buddyinfo"]["huge_unusable"] == 1000 * (2 ** 13 - 1) // (2 ** 14 - 1)


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


def test_bytes_that_no_file_holds(sonde, tmp_path):
    """The collector's own calls are not made again: random bytes come back as they were, the error too."""
    shared_object(ROOT / "tests/e2e/plugins/dice.c", tmp_path / "plugins")
    config = tmp_path / "a.ini"
    old, new = tmp_path / "old.sonde", tmp_path / "new.sonde"
    config.write_text(f"[agent]\ninterval = 20ms\n[dice]\ncapture = raw\n[sink:file]\npath = {old}\n")
    done = sonde("agent", "-c", config, "--max-frames", "3", env=environment(tmp_path / "plugins"))
    assert done.returncode == 0, done.stderr
    done = sonde("reparse", old, "-o", new, env=environment(tmp_path / "plugins"))
    assert done.returncode == 0, done.stderr
    before = rows(sonde("cat", "--json", old).stdout, "dice")
    assert len({row["values"]["value"] for row in before}) == 3
    assert all(row["values"]["length"] == 150000 for row in before)
    assert all(row["values"]["error"] == errno.EPERM for row in before)
    assert rows(sonde("cat", "--json", new).stdout, "dice") == before


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
