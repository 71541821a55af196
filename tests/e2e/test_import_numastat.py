"""sonde import numastat: counts and memory by node, memory of processes by node, in the tables of the collectors that count the same. The
texts are numastat's own; what it read is known by a formula (tests/data/import/README.md)."""

import json

import pytest
from importing import column, imported, refused, times  # noqa: F401

NODES = range(16)
# kB of MemTotal of the real node, of which node N had N + 1 times as much.
MEM_TOTAL = 4548384


@pytest.fixture
def text(root):
    return lambda *names: "".join((root / f"tests/data/import/numastat-{name}.txt").read_text() for name in names)


def hits(node):
    return 9 * 10 ** (6 + node % 4)


def by_node(rows, name):
    return {keys["node"]: values.get(name) for _, keys, values in rows}


def test_counts_of_many_nodes(imported, text):
    """Four blocks of four nodes, one table."""
    tables = imported("numastat", text("plain"))
    assert times(tables["numa"]) == [0] * 16
    assert by_node(tables["numa"], "numa_hit") == {node: hits(node) for node in NODES}
    assert by_node(tables["numa"], "numa_miss") == {node: hits(node) // 9 for node in NODES}
    assert by_node(tables["numa"], "interleave_hit") == {node: 500 + node for node in NODES}
    assert by_node(tables["numa"], "local_node") == {node: hits(node) // 9 * 8 for node in NODES}
    assert any("printed once" in note for note in imported.notes)


@pytest.mark.parametrize("name, step", [("n", 0.01), ("cn", 1)])
def test_counts_as_memory(imported, text, name, step):
    """-n, and -c: pages of 4 KiB, as exact as they are printed, and said to be."""
    got = by_node(imported("numastat", text(name))["numa"], "numa_hit")
    for node in NODES:
        assert abs(got[node] - hits(node)) <= step * 256 + 1
    assert any("4 KiB" in note for note in imported.notes)


@pytest.mark.parametrize("name", ["m", "wide"])
def test_memory(imported, text, name):
    """In blocks or in one line; what numastat said on stderr stands between the lines."""
    rows = imported("numastat", text(name))["numa_meminfo"]
    for node in NODES:
        # two decimals of a MiB
        assert abs(by_node(rows, "mem_total")[node] - MEM_TOTAL * (node + 1)) <= 6
    assert {"active_anon", "mem_free", "s_unreclaim", "k_reclaimable"} <= set(rows[0][2])
    assert not any(name.startswith("huge_pages") for _, _, values in rows for name in values)
    assert any("HugePages_*" in note for note in imported.notes) == (name == "m")  # -z leaves out what is 0


@pytest.mark.parametrize("mark", [".", ","])
def test_decimal_marks(imported, text, mark):
    """[194] [195] A locale's comma is no group of three."""
    rows = imported("numastat", text("m").replace(".", mark))["numa_meminfo"]
    assert abs(by_node(rows, "mem_total")[15] - MEM_TOTAL * 16) <= 6


def test_no_node_0(imported):
    """[81] Nodes are those of the header."""
    text = "                           node1           node4\nnuma_hit                      11              44\n"
    assert by_node(imported("numastat", text)["numa"], "numa_hit") == {1: 11, 4: 44}


def test_a_process(imported, text):
    ((_, keys, values),) = imported("numastat", text("p"))["numa_maps"]
    assert keys == {"pid": 3230, "node": 0} and values["comm"] == "sleep"
    assert {name: round(value / 2**20, 2) for name, value in values.items() if name != "comm"} == {
        "hugetlb": 0, "heap": 0.02, "stack": 0.01, "anon_and_file": 1.72, "bytes": 1.75}


def test_several_processes(imported, text):
    """Names have blanks; the sum of all is none of them; what is printed of one alone is absent here."""
    rows = imported("numastat", text("pp"))["numa_maps"]
    assert [(keys["pid"], values["comm"], round(values["bytes"] / 2**20, 2)) for _, keys, values in rows] == [
        (3230, "sleep", 1.75), (3233, "we b", 1.61)]
    assert not any("heap" in values for _, _, values in rows)


def test_names_that_are_cut_or_look_like_numbers(imported):
    text = ("Per-node process memory usage (in MBs)\nPID              Node 0 Node 1 Total\n---------------  ------ ------ -----\n"
            "24463 (qemu_hotr      6      7    13\n24479 (a) 1 2         0      8     8\n---------------  ------ ------ -----\n"
            "Total                 6     15    21\n")
    rows = imported("numastat", text)["numa_maps"]
    assert [(keys["pid"], keys["node"], values["comm"], values["bytes"] >> 20) for _, keys, values in rows] == [
        (24463, 0, "qemu_hotr", 6), (24463, 1, "qemu_hotr", 7), (24479, 0, "a) 1 2", 0), (24479, 1, "a) 1 2", 8)]


def test_printed_several_times(imported, text):
    """The same nodes, or the same process, again: another print; other tables in between belong to the same."""
    once = text("m", "plain", "p")
    tables = imported("numastat", once + once.replace("3230", "3231") + once, "--interval", "5s")
    assert sorted(set(times(tables["numa"]))) == sorted(set(times(tables["numa_meminfo"]))) == [0, 5, 10]
    assert [(time, keys["pid"]) for time, keys, _ in tables["numa_maps"]] == [(0, 3230), (5, 3231), (10, 3230)]
    assert not any("--interval" in note for note in imported.notes)
    imported("numastat", once * 2)
    assert any("--interval" in note for note in imported.notes)


def test_one_process_again(imported, text):
    assert times(imported("numastat", text("p") * 3, "--interval", "2s")["numa_maps"]) == [0, 2, 4]


def findings(sonde, path):
    report = json.loads(sonde("report", "--json", path).stdout)
    return {(finding["id"], finding["about"]) for finding in report["findings"]}, {
        line["id"]: line["verdict"] for line in report["catalogue"]["judgements"]}


def test_what_it_shows(sonde, imported):
    """Node 1 is nearly full, and half of what is allocated there came for others."""
    counts = "                           node0           node1\nnuma_hit          {0}   {0}\nnuma_miss  0  0\nlocal_node   {0}  {1}\nother_node   0   {1}\n"
    memory = ("Per-node system memory usage (in MBs):\n                 Node 0          Node 1           Total\n"
              "MemTotal       8000.00       8000.00   16000.00\nMemFree        4000.00         80.00    4080.00\n")
    imported("numastat", "".join(counts.format(n * 10**6, n * 5 * 10**5) + memory for n in range(1, 6)), "--interval", "5s")
    found, verdicts = findings(sonde, imported.path)
    assert found == {("numa.remote_alloc", "host"), ("numa.node_exhausted", "node 1")}
    assert verdicts["numa.process_misplaced"] == "not_judged"


def test_why_it_is_not_judged(sonde, imported, text):
    """Pools that are left out are the reason for what is judged of pools, and for nothing else."""
    imported("numastat", text("m"))
    reasons = {line["id"]: line["reason"] for line in json.loads(sonde("report", "--json", imported.path).stdout)["catalogue"]["judgements"]}
    assert "HugePages_*" in reasons["hp.hugetlb_idle"] and "HugePages_*" not in reasons["numa.process_misplaced"]


def test_lines_that_are_none(sonde, imported):
    """[203] Left out and said; the others stand."""
    text = "                 node0   node1\nnuma_hit   1   2\nnuma_miss  34\nnuma_foreign 5 6\n"
    rows = imported("numastat", text)["numa"]
    assert by_node(rows, "numa_foreign") == {0: 5, 1: 6} and by_node(rows, "numa_miss") == {0: None, 1: None}
    assert any("1 lines of numastat, line 3 first" in note for note in imported.notes)


@pytest.mark.parametrize("text, says", [
    ("", "no line of it is one of numastat's"),
    ("total used free\nMem: 1 2 3\n", "no line of it is one of numastat's"),
    ("  node0 node1\nnuma_hit 1\n", "1 lines, line 2 first"),
    ("  node0 node1\nwhatever 1 2\n", "no row of it has a name"),
    ("  node0 node5000\nnuma_hit 1 2\n", "no line of it is one of numastat's"),
    ("Found no processes containing pattern: \"x\"\n", "no line of it"),
    ("Per-node process memory usage (in MBs)\nPID Node 0 Total\n" + "".join(f"{n} (x) 1 1\n" for n in range(1, 1200)), "more than 1024"),
])
def test_what_cannot_be_read(refused, text, says):
    """[200] Never an empty recording."""
    assert says in refused("numastat", text)
