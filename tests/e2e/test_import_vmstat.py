"""sonde import vmstat: what vmstat prints is in the tables of the collectors that count the same; what it does not tell is absent, and
said. The texts are vmstat's own (tests/data/import); numbers in brackets are those of the shared cases."""

import json
import re

import pytest
from importing import column, imported, refused, times  # noqa: F401
from test_format import Reader

WIDE = "--procs-- -----memory---- ---swap-- -----io---- -system-- ----------cpu----------\n" \
       "   r    b         swpd         free         buff        cache   si   so    bi    bo   in   cs  us  sy  id  wa  st  gu\n"
ROW = "   1    0            0      1000000        20000       300000    0    0     8    16  100  200  10   5  80   3   2   0\n"


@pytest.fixture
def text(root):
    return lambda name: (root / "tests/data/import" / f"vmstat-{name}.txt").read_text()


def test_narrow_with_repeated_headers(imported, text):
    """26 rows under several headers: the first is of all time since boot."""
    printed = text("narrow")
    rows = [[int(word) for word in line.split()] for line in printed.splitlines() if re.match(r"[ \d]+$", line)]
    assert len(rows) == 26 and printed.count("swpd") > 1
    tables = imported("vmstat", printed)
    stat, memory, paging = tables["stat"], tables["meminfo"], tables["vmstat"]
    assert times(stat) == list(range(26))
    assert column(stat, "procs_running") == [row[0] for row in rows]
    assert column(memory, "mem_free") == [row[3] for row in rows] and column(memory, "buffers") == [row[4] for row in rows]
    total = lambda at: sum(row[at] for row in rows[1:])  # noqa: E731
    assert (stat[0][2]["ctxt"], stat[-1][2]["ctxt"], stat[-1][2]["intr"]) == (0, total(11), total(10))
    assert (paging[-1][2]["pgpgin"], paging[-1][2]["pgpgout"]) == (total(8), total(9))
    # A share of 1 % in a second is one tick of USER_HZ 100.
    assert [stat[-1][2][name] for name in ("user", "system", "idle", "iowait", "steal")] == [total(at) for at in range(12, 17)]
    assert "guest" not in stat[-1][2] and "nice" not in stat[-1][2]
    assert any("1 s is taken" in note for note in imported.notes)


def test_the_first_row_is_since_boot(imported):
    """[202] Its rates are left out, and that is said; what it tells of the moment is not."""
    tables = imported("vmstat", WIDE + ROW.replace("  200", " 9999") + ROW)
    assert column(tables["stat"], "ctxt") == [0, 200] and column(tables["stat"], "procs_running") == [1, 1]
    assert sum("since boot" in note for note in imported.notes) == 1
    tables = imported("vmstat", WIDE + ROW + ROW, "-y")
    assert column(tables["stat"], "ctxt") == [0, 200, 400] and column(tables["stat"], "procs_running") == [None, 1, 1]
    assert not any("since boot" in note for note in imported.notes)


def test_wide_by_the_words_of_the_header(imported):
    """[200] Whatever the order of the columns, and with one that is not known."""
    (moved,) = imported("vmstat", "r b free zz id us sy cs\n1 2 3 4 5 6 7 8\n1 2 30 4 50 6 7 80\n")["stat"][1:]
    assert moved[2] == {"idle": 50, "user": 6, "system": 7, "ctxt": 80, "procs_running": 1, "procs_blocked": 2}


@pytest.mark.parametrize("name, since, until", [
    ("active", "2026-11-30T15:27:09+00:00", "2026-11-30T15:27:12+00:00"),
    ("y", "2026-11-30T15:27:14+00:00", "2026-11-30T15:27:20+00:00"),
    ("zone2", "2026-11-30T12:27:22-03:00", "2026-11-30T12:27:25-03:00"),
])
def test_times(sonde, imported, text, name, since, until):
    """[201] A date and a time behind each row, their zone in the header: -03 is an offset."""
    imported("vmstat", text(name), *(["-y"] if name == "y" else []))
    window = json.loads(sonde("report", "--json", imported.path, check=True).stdout)["window"]
    plain = [re.sub(r"\.0+|Z", lambda m: "+00:00" if m[0] == "Z" else "", window[end]) for end in ("begin", "end")]
    assert plain == [since, until]
    assert not any("zone" in note or "1 s is taken" in note for note in imported.notes)


def test_a_zone_that_only_has_a_name(imported, text):
    """[201] IST is India's, Ireland's or Israel's: kept as it is told, and taken as UTC."""
    imported("vmstat", text("zone"))
    assert any("(IST)" in note and "UTC" in note for note in imported.notes)


def test_a_clock_that_is_set_back(imported):
    """From summer to winter time: an interval is not -3599 s long."""
    stamped = [ROW.rstrip() + f" 2026-10-25 {time}\n" for time in ("02:59:57", "02:59:59", "02:00:01", "02:00:03")]
    header = WIDE.rstrip() + "   CEST\n"
    stat = imported("vmstat", header + "".join(stamped))["stat"]
    assert times(stat) == [0, 2, 4, 6] and column(stat, "ctxt") == [0, 400, 800, 1200]
    assert any("clock was set" in note for note in imported.notes)


def test_active_and_inactive(imported, text):
    memory = imported("vmstat", text("active"))["meminfo"]
    assert memory[-1][2] == {"mem_free": 22412240, "inactive": 1133324, "active": 814976, "swap_used": 0}


def test_units(imported, text):
    """-S is not in the text; in megabytes nothing is said of swapping, since most of it would be 0."""
    memory = imported("vmstat", text("megabytes"), "-S", "M")["meminfo"]
    assert memory[-1][2]["mem_free"] == 21862 * 1024
    assert "pswpin" not in imported("vmstat", text("megabytes"), "-S", "M")["vmstat"][-1][2]
    assert any("hides swapping" in note for note in imported.notes)
    row = ROW.replace("    0    0     8", " 1000  500     8")
    for unit, pages in (("K", (250, 125)), ("k", (244, 122))):  # 1000 x 1000 / 4096 = 244.1
        values = imported("vmstat", WIDE + ROW + row, "-S", unit)["vmstat"][-1][2]
        assert (values["pswpin"], values["pswpout"]) == pages


def test_an_interval_that_is_told(imported):
    tables = imported("vmstat", WIDE + ROW + ROW + ROW, "--interval", "5s")
    assert times(tables["stat"]) == [0, 5, 10] and column(tables["stat"], "ctxt") == [0, 1000, 2000]
    assert not any("1 s is taken" in note for note in imported.notes)


def test_fields_that_have_grown_together(sonde, imported):
    """[203] A row with fewer numbers than columns is none: it is counted and said, and its time is a gap."""
    grown = ROW.replace("0      1000000        20000", "0   100000000000000020000")
    tables = imported("vmstat", WIDE + ROW + ROW + grown + ROW + ROW)
    assert times(tables["stat"]) == [0, 1, 3, 4]
    assert any("1 lines of vmstat, line 5 first" in note for note in imported.notes)
    (gap,) = tables["gap"]
    assert (gap[2]["begin"], gap[2]["end"]) == (2 * 10**9, 4 * 10**9)
    report = json.loads(sonde("report", "--json", imported.path).stdout)
    (switches,) = [metric["value"] for metric in report["metrics"] if metric["name"] == "cpu.switches"]
    assert switches == pytest.approx(200)


@pytest.mark.parametrize("rows, says", [
    ("   1    0            0\n", "line 3 first, have not the columns"),
    ("1001.659sh               3220634\n", "line 3 first, have not the columns"),
    ("", "nothing stands below the header"),
    (ROW, "since boot"),
    (ROW.replace("  10   5", " 101   5"), "line 3 first"),
    (ROW.replace("1000000", "18446744073709551616"), "line 3 first"),
])
def test_rows_that_are_none(refused, rows, says):
    """[200] [203] Never an empty recording, never a number that is another one's."""
    assert says in refused("vmstat", WIDE + rows)


@pytest.mark.parametrize("mode", "dDpsmf")
def test_other_modes(refused, text, mode):
    """Refused, with what to do instead."""
    says = refused("vmstat", text(f"mode-{mode}"))
    assert f"vmstat -{mode}" in says and "vmstat -wt 1 60" in says


def test_other_texts(refused):
    assert "header of vmstat" in refused("vmstat", "")
    assert "header of vmstat" in refused("vmstat", "total used free\nMem: 1 2 3\n")
    assert "header of vmstat" in refused("vmstat", "CPUs, disks and total memory, between two forks\n")


def found(sonde, path):
    report = json.loads(sonde("report", "--json", path).stdout)
    verdicts = {line["id"]: line["verdict"] for line in report["catalogue"]["judgements"]}
    return {finding["id"] for finding in report["findings"]}, verdicts, {m["name"]: m["value"] for m in report["metrics"]}


def test_what_it_shows(sonde, imported):
    """Swapping, stolen time and waiting for I/O; without the number of CPUs, r says nothing."""
    bad = "   9    3       500000       100000        20000       300000  400  800  9000  9000 100  200  10  10  30  30  20   0\n"
    imported("vmstat", WIDE + bad * 20)
    ids, verdicts, metrics = found(sonde, imported.path)
    assert ids == {"mem.swapping", "cpu.steal", "cpu.iowait"} and verdicts["cpu.saturation"] == "not_judged"
    assert metrics["cpu.utilisation"] == pytest.approx(0.2) and metrics["cpu.iowait"] == pytest.approx(0.3)
    assert metrics["mem.swap_out"] == pytest.approx(200)
    imported("vmstat", WIDE + bad * 20, "--cpus", 4)
    assert found(sonde, imported.path)[0] == {"mem.swapping", "cpu.steal", "cpu.iowait", "cpu.saturation"}
    imported("vmstat", WIDE + bad * 20, "--cpus", 16)
    ids, verdicts, _ = found(sonde, imported.path)
    assert "cpu.saturation" not in ids and verdicts["cpu.saturation"] == "clear"


def test_what_its_report_says(sonde, imported):
    """What the text does not tell leaves no hole in a sentence, and no number is told twice."""
    bad = "   9    3       500000       100000        20000       300000  400  800  9000  9000 100  200  10  10  30  30  20   0\n"
    imported("vmstat", WIDE + bad * 20, "--cpus", 4)
    assert "host      vmstat, Linux (unknown), 4 CPUs\n" in sonde("report", imported.path, check=True).stdout
    (saturated,) = (
        finding for finding in json.loads(sonde("report", "--json", imported.path).stdout)["findings"] if finding["id"] == "cpu.saturation"
    )
    names = [line["name"] for line in saturated["evidence"]]
    assert "cpu.tasks_runnable" in names and len(names) == len(set(names))
    imported("vmstat", WIDE + bad * 20)
    assert "\n\nLinux (unknown)  \n" in sonde("report", "--md", imported.path, check=True).stdout


def test_an_idle_machine(sonde, imported):
    imported("vmstat", WIDE + ROW * 20, "--cpus", 4)
    assert found(sonde, imported.path)[0] == set()


@pytest.mark.parametrize("words, says", [
    (["-S", "G"], "k, K, m or M"), (["--interval", "0s"], "above 0"), (["--interval", "soon"], "above 0"),
    (["--cpus", "0"], "1 to 9999"), (["--cpus", "4x"], "1 to 9999"),
])
def test_misuse(sonde, words, says):
    done = sonde("import", "vmstat", *words, "x", "-o", "y")
    assert done.returncode == 2 and says in done.stderr


def schemas(path):
    reader = Reader(path.read_bytes())
    reader.read()
    return {table.name: {c[0]: tuple(c[1:7]) for c in table.columns} for table in reader.tables if not table.events}


# What the text has in one, and no kernel file.
TOGETHER = {("meminfo", "cached_and_s_reclaimable"), ("meminfo", "swap_used"), ("numa_maps", "anon_and_file")}


@pytest.mark.parametrize("tool, names", [
    ("vmstat", ["narrow"]), ("numastat", ["plain", "m", "pp"]),
])
def test_columns_are_those_of_the_collectors(sonde, root, tmp_path, imported, tool, names):
    """Name, type, semantics, unit and scale of each, or no analyzer would add them up rightly."""
    own = tmp_path / "own.sonde"
    sonde("record", "--profile", "numa", "--max-frames", 2, "-i", "50ms", "-o", own, check=True)
    imported(tool, "".join((root / f"tests/data/import/{tool}-{name}.txt").read_text() for name in names))
    real = schemas(own)
    for table, columns in schemas(imported.path).items():
        for name, column in columns.items():
            if (table, name) not in TOGETHER and (name != "swap_cached"):
                assert real[table][name] == column, (table, name)
