"""contrib/hugepages: on a tree of two nodes, where every refusal can be had, and on this machine's own pools."""

import os
import re
import subprocess
from pathlib import Path

import pytest

POOL = "hugepages-2048kB"
REAL = Path("/sys/devices/system/node/node0/hugepages") / POOL


@pytest.fixture
def hugepages(root):
    def run(*words):
        done = subprocess.run([root / "contrib/hugepages", *map(str, words)], capture_output=True, text=True, timeout=30)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def tree(tmp_path):
    """Two nodes of 1,000 MiB: 600 and 100 MiB free; on node 0 sixteen pages, of which six are in use and three promised."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 2048000 kB\nHugepagesize:       2048 kB\n")
    totals = tmp_path / "sys/kernel/mm/hugepages" / POOL
    totals.mkdir(parents=True)
    for name, value in {"nr_hugepages": 16, "free_hugepages": 10, "resv_hugepages": 3}.items():
        (totals / name).write_text(f"{value}\n")
    for node, free, pages, unused in ((0, 600, 16, 10), (1, 100, 0, 0)):
        folder = tmp_path / f"sys/devices/system/node/node{node}"
        (folder / "hugepages" / POOL).mkdir(parents=True)
        (folder / "meminfo").write_text(f"Node {node} MemTotal: {1000 * 1024} kB\nNode {node} MemFree: {free * 1024} kB\n")
        for name, value in {"nr_hugepages": pages, "free_hugepages": unused, "surplus_hugepages": 0}.items():
            (folder / "hugepages" / POOL / name).write_text(f"{value}\n")
    return tmp_path


def pages(tree, node):
    return int((tree / f"sys/devices/system/node/node{node}/hugepages/{POOL}/nr_hugepages").read_text())


def test_show(hugepages, tree):
    status, text, said = hugepages("--root", tree, "show")
    assert (status, said) == (0, "")
    assert [line.split() for line in text.splitlines()[1:]] == [
        ["0", "2048kB", "16", "10", "0", "600", "MiB"], ["1", "2048kB", "0", "0", "0", "100", "MiB"]]


@pytest.mark.parametrize("words, before, after", [
    (["reserve", 0, 250], 16, 266),  # 500 MiB of 600: 100, a tenth of 1,000, stay free
    (["release", 0, 7], 16, 9),  # ten are free, three of them promised
    (["release", 0, "all"], 16, 9),
    (["--keep", 0, "reserve", 1, 50], 0, 50),
])
def test_change(hugepages, tree, words, before, after):
    node = words[-2]
    status, text, said = hugepages("--root", tree, "-n", *words)
    assert (status, said) == (0, "") and "dry run" in text and f"from {before} to {after}" in text
    assert pages(tree, node) == before
    status, text, said = hugepages("--root", tree, *words)
    assert (status, said) == (0, "") and "dry run" not in text
    assert pages(tree, node) == after


@pytest.mark.parametrize("words, says", [
    (["reserve", 0, 251], "less than 10 % of its 1000 MiB"),
    (["reserve", 1, 1], "less than 10 %"),
    (["reserve", 7, 1], "there is no node 7"),
    (["release", 0, 8], "only 7 are free and not reserved"),
    (["--size", 1048576, "reserve", 0, 1], "no pages of 1048576 kB"),
])
def test_refusals(hugepages, tree, words, says):
    status, _, said = hugepages("--root", tree, *words)
    assert status == 1 and says in said and said.count("\n") == 1
    assert (pages(tree, 0), pages(tree, 1)) == (16, 0)


def test_what_the_kernel_refuses(hugepages, tree):
    """A file of the kernel's that takes no more than 1000."""
    folder = tree / "sys/devices/system/node/node1"
    (folder / "meminfo").write_text(f"Node 1 MemTotal: {100 << 20} kB\nNode 1 MemFree: {100 << 20} kB\n")
    file = folder / "hugepages" / POOL / "nr_hugepages"
    file.unlink()
    file.symlink_to("/proc/self/oom_score_adj")
    status, _, said = hugepages("--root", tree, "reserve", 1, 1001)
    assert status == 1 and "the kernel refused" in said


@pytest.mark.parametrize("words", [
    [], ["show", "all"], ["reserve", 0], ["reserve", 0, "all"], ["release", "x", 1], ["reserve", 0, "-1"], ["reserve", "../0", 1],
    ["--keep", "101", "show"], ["--keep"], ["--nothing", "show"], ["steal", 0, 1], ["reserve", 0, "1$(id)"]], ids=lambda words: " ".join(map(str, words)))
def test_misuse(hugepages, tree, words):
    """Told before anything of the machine is: it may have no huge pages."""
    status, text, said = hugepages("--root", tree, *words)
    assert status == 2 and text == "" and said.count("\n") == 1 and "--help" in said
    assert words[:1] != ["steal"] or hugepages("--root", tree / "nowhere", *words) == (2, "", said) and '"steal"' in said


def test_here(hugepages):
    """Two pages of this machine, there and gone again."""
    if os.getuid() != 0 or not REAL.exists():
        pytest.skip("needs root and pages of 2 MiB")
    before = int((REAL / "nr_hugepages").read_text())
    status, text, said = hugepages("--size", 2048, "--keep", 1, "reserve", 0, 2)
    if status:
        pytest.skip(said.strip())
    try:
        assert int((REAL / "nr_hugepages").read_text()) == before + 2
        shown = hugepages("show")[1]
        assert re.search(rf"^ +0 +2048kB +{before + 2} ", shown, re.M)
    finally:
        status, text, said = hugepages("--size", 2048, "release", 0, 2)
    assert (status, said) == (0, "") and int((REAL / "nr_hugepages").read_text()) == before
