"""root = a tree that somebody made: whatever stands in place of the kernel's files, each collector says so once, nothing outside
of the tree is read, and memory and time stay bounded."""

import json
import os
import random
import resource
import shutil
from pathlib import Path

import pytest

from live import sanitized

FILES = (
    "proc/stat proc/meminfo proc/vmstat proc/loadavg proc/diskstats proc/buddyinfo proc/schedstat proc/pressure/cpu "
    "proc/pressure/memory proc/pressure/io proc/1/net/dev proc/1/stat proc/1/status proc/1/io proc/1/schedstat proc/1/cmdline"
).split()
GLOBS = (
    "sys/devices/system/node/node*/* sys/devices/system/node/* sys/devices/system/cpu/* sys/kernel/mm/hugepages/*/* "
    "sys/kernel/mm/transparent_hugepage/* sys/kernel/mm/transparent_hugepage/*/* "
    "sys/kernel/mm/transparent_hugepage/*/stats/*"
).split()
SECRET = "not for a recording"


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(1 << 30)


def noise(path):
    path.write_bytes(random.Random(path.name).randbytes(100_000))


# What is in the place of every file of the tree.
UNREADABLE = {
    "a FIFO": os.mkfifo,
    "a folder": Path.mkdir,
    "a link to the outside": lambda path: path.symlink_to(path.parents[path.parts[::-1].index("tree")] / "secret"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a GiB of nothing": sparse,
}
STRANGE = {
    "nothing": Path.touch,
    "noise": noise,
    "a line without end": lambda path: path.write_bytes(b"a" * 3_000_000),
    "a number without end": lambda path: path.write_bytes(b"9" * 1_000_000 + b"\n"),
    "numbers without end": lambda path: path.write_bytes(b"1 " * 1_000_000 + b"\n"),
    "keys without end": lambda path: path.write_bytes(b"".join(b"key%d 1\n" % i for i in range(100_000))),
    "rows without end": lambda path: path.write_bytes(b"cpu0 1 2 3\n" * 10_000),
    "zeros": lambda path: path.write_bytes(bytes(100_000)),
}


@pytest.fixture
def tree(tmp_path):
    """tree(put): a tree with the names of this machine's files, each made by put(path)."""

    def make(put):
        root = tmp_path / "tree"
        (tmp_path / "secret").write_text(SECRET)
        names = FILES + [str(path)[1:] for each in GLOBS for path in Path("/").glob(each) if path.is_file()]
        for name in names:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            put(path)
        return root

    return make


def record(sonde, build, root, path):
    """What all collectors said; with 128 MiB of memory, stacks included (setrlimit(2), RLIMIT_DATA), all is recorded."""
    most = resource.RLIM_INFINITY if sanitized(build) else 128 << 20
    done = sonde(
        "record", "-q", "--network", "--root", root, "-i", "20ms", "--max-frames", "4", "-o", path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (most, most)),
    )
    assert done.returncode == 0, done.stderr
    assert all(line.isprintable() for line in done.stderr.splitlines())
    return done.stderr


def rows_of(sonde, path):
    done = sonde("cat", "--json", path)
    assert done.returncode == 0 and SECRET not in done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.limit(60)
def test_files_that_are_none(sonde, build, tree, tmp_path, kind):
    path = tmp_path / "a.sonde"
    said = record(sonde, build, tree(UNREADABLE[kind]), path)
    assert len(said.splitlines()) <= 1  # of the process that is listed
    rows = rows_of(sonde, path)
    noted = [row["values"]["instance"] for row in rows if row["table"] == "note"]
    for collector in ("cpu", "schedstat", "psi", "meminfo", "vmstat", "loadavg", "disk", "buddyinfo", "net"):
        assert noted.count(collector) == 1
    assert not {row["table"] for row in rows} & {"cpu", "stat", "meminfo", "vmstat", "loadavg", "disk", "net", "psi", "process"}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.limit(60)
def test_files_of_something_else(sonde, build, tree, tmp_path, kind):
    path = tmp_path / "a.sonde"
    assert len(record(sonde, build, tree(STRANGE[kind]), path).splitlines()) <= 12
    assert {row["table"] for row in rows_of(sonde, path)} >= {"end"}


def test_names_that_are_none(sonde, build, tree, tmp_path):
    """Folders of no process and no node, beside a real one: passed over, none of their bytes in a message."""
    def copy(path):
        try:
            shutil.copyfile(f"/{path.relative_to(tmp_path / 'tree')}", path)
        except OSError:  # this kernel has no such file
            path.unlink(missing_ok=True)

    root = tree(copy)
    for name in ("12\n34", "1x", "-1", "+1", "0x1", "99999999999999999999", "\x1b[31m", "1" * 200):
        for where in (root / "proc", root / "sys/devices/system/node", root / "sys/kernel/mm/hugepages"):
            where.mkdir(parents=True, exist_ok=True)
            (where / name).mkdir()
            (where / f"node{name}").mkdir()
            (where / f"hugepages-{name}kB").mkdir()
    record(sonde, build, root, tmp_path / "a.sonde")
    rows = rows_of(sonde, tmp_path / "a.sonde")
    assert {row["keys"]["pid"] for row in rows if row["table"] == "process"} == {1}
    assert {row["keys"]["node"] for row in rows if row["table"] == "numa"} <= {0, 1, 2, 3}


def test_a_thousand_interfaces_at_once(sonde, tmp_path):
    """More than there was room for: those of the first sample are counted as lost, and every row has its name."""
    file = tmp_path / "tree/proc/1/net/dev"
    file.parent.mkdir(parents=True)
    names = [f"veth{i:08x}" for i in range(1000)]
    numbers = " ".join(map(str, range(1, 17)))
    file.write_text("Inter-|   Receive\n face |bytes\n" + "".join(f"{name}: {numbers}\n" for name in names))
    (tmp_path / "a.ini").write_text(f"[agent]\nroot = {tmp_path}/tree\ninterval = 20ms\n[net]\n[sink:file]\npath = {tmp_path}/a.sonde\n")
    done = sonde("agent", "-c", tmp_path / "a.ini", "--max-frames", "3")
    assert done.returncode == 0, done.stderr
    rows = rows_of(sonde, tmp_path / "a.sonde")
    numbered = {}
    for row in rows:
        if row["table"] == "net":
            numbered.setdefault(row["sequence"], []).append(row["keys"].get("name"))
    samples = [numbered[key] for key in sorted(numbered)]
    assert len(samples) == 3 and samples[1] == samples[2] == names
    gaps = [row["values"] for row in rows if row["table"] == "gap"]
    assert [gap["reason"] for gap in gaps] == ["rows"]
    assert f"{1000 - len(samples[0])} rows" in gaps[0]["text"] and None not in samples[0]
