"""sonde import: what another tool printed, in every form that it prints, is the same recording; what was not counted is absent,
with a reason; what can't be told apart is refused with advice."""

import json

import pytest
from importing import imported, refused  # noqa: F401
from live import document

# The run of which all texts below are: 5 s, 15e9 cycles, 9e9 instructions...
CYCLES, INSTRUCTIONS, LOADS, MISSES = 15_000_000_000, 9_000_000_000, 300_000_000, 161_100_000

PEOPLE = """# started on Mon Nov 30 12:00:00 2026

 Performance counter stats for './a':

          5{d}000{p}50 msec task-clock                #    1{p}000 CPUs utilized
    15{d}000{d}000{d}000      cycles                    #    3{p}000 GHz
     9{d}000{d}000{d}000      instructions              #    0{p}60  insn per cycle
       300{d}000{d}000      LLC-loads
       161{d}100{d}000      LLC-load-misses
   <not supported>      stalled-cycles-backend

       5{p}001079353 seconds time elapsed

       4{p}900000000 seconds user
"""
# value;unit;event;time on the PMU;its share
CSV = ["5000{p}50;msec;task-clock;5000500000;100{p}00;;", "15000000000;;cycles;5000000000;100{p}00;3{p}00;GHz",
       "9000000000;;instructions;5000000000;100{p}00;0{p}60;insn per cycle", "300000000;;LLC-loads;5000000000;100{p}00;;",
       "161100000;;LLC-load-misses;5000000000;100{p}00;;", "<not supported>;;stalled-cycles-backend;0;100{p}00;;"]


def csv(separator=";", point="."):
    return "# started on Mon Nov 30 12:00:00 2026\n\n" + "".join(
        line.format(p="\0").replace(";", separator).replace("\0", point) + "\n" for line in CSV)


TEXTS = {
    "people, C": PEOPLE.format(d=",", p="."),
    "people, de_DE": PEOPLE.format(d=".", p=","),
    "people, fr_FR": PEOPLE.format(d="\u202f", p=","),
    "people, de_CH": PEOPLE.format(d="'", p="."),
    "people, POSIX": PEOPLE.format(d="", p="."),
    "-x;": csv(),
    "-x; de_DE": csv(point=","),
    "-x,": csv(","),
    "-x, de_DE": csv(",", ",").replace("5000,50,msec,task-clock,5000500000,100,00,,\n", ""),
    "-x tab": csv("\t"),
    "-x |": csv("|"),
}


@pytest.mark.parametrize("form", TEXTS)
def test_every_form_is_the_same_run(imported, form):
    tables = imported("perf-stat", TEXTS[form])
    first, last = tables["perf_event_core"][0], tables["perf_event_core"][-1]
    assert (first[0], first[2]["cycles"]) == (0, 0)
    assert (last[2]["cycles"], last[2]["instructions"]) == (CYCLES, INSTRUCTIONS)
    assert last[0] == pytest.approx(5, rel=1e-3) and last[1] == {"pmu": "cpu"}
    llc = tables["perf_event_llc"][-1][2]
    assert (llc["llc_reads"], llc["llc_read_misses"], llc["instructions"]) == (LOADS, MISSES, INSTRUCTIONS)
    assert "stalled_cycles_backend" not in last[2]
    (reason,) = {values["reason"] for _, keys, values in tables["perf_event"] if keys["event"] == "stalled_cycles_backend"}
    assert reason == "not supported"


def test_the_report_says_what_it_shows(sonde, imported):
    imported("perf-stat", TEXTS["people, de_DE"])
    report = json.loads(sonde("report", "--json", imported.path).stdout)
    assert [finding["id"] for finding in report["findings"]] == ["cache.memory_bound"]
    metrics = {metric["name"]: metric["value"] for metric in report["metrics"]}
    assert metrics["cache.ipc"] == pytest.approx(0.6)
    assert metrics["cache.llc_misses_per_1000"] == pytest.approx(17.9)
    assert report["window"]["begin"].startswith("2026-11-30T12:00:00")


def test_elapsed_and_grouped_digits(imported):
    """[194] Dots group, a comma is the decimal mark: 627,912,025 events in 5.001079353 s."""
    tables = imported("perf-stat", "CPU0           627.912.025 cpu_clk_unhalted_thread_any\n\n       5,001079353 seconds time elapsed\n")
    time, keys, values = tables["perf_event_cpu_clk_unhalted_thread_any"][-1]
    assert values["cpu_clk_unhalted_thread_any"] == 627912025
    assert time == pytest.approx(5.001079353) and keys == {"pmu": "cpu", "cpu": 0}


def test_a_share_with_a_decimal_comma(imported):
    """[195] One hundred, not "100" and a field more."""
    values = imported("perf-stat", "44,,page-faults,306721,100,00,,\n")["perf_event_page_faults"][-1][2]
    assert (values["page_faults"], values["time_enabled"], values["time_running"]) == (44, 306721, 306721)


def test_a_cgroup_behind_the_event_and_decimal_commas(imported):
    """[192] Nine fields for seven, since the separator is the decimal mark too."""
    values = imported("perf-stat", "6376827291,,cycles,grp,2011741096,100,00,3,GHz\n")["perf_event_core"][-1][2]
    assert (values["cycles"], values["time_enabled"]) == (6376827291, 2011741096)


def test_intervals_by_cpu(imported):
    """[193]"""
    tables = imported("perf-stat", "".join(
        f"     {time},250269405;CPU{cpu};{312998921 + cpu};;cycles;250166318;100,00;;\n" for time in (0, 1, 2) for cpu in (0, 1)))
    rows = tables["perf_event_core"]
    assert [time for time, keys, _ in rows if keys["cpu"] == 0] == pytest.approx([0, 0.250269405, 1.250269405, 2.250269405])
    assert [values["cycles"] for _, keys, values in rows if keys["cpu"] == 1] == [n * 312998922 for n in range(4)]


def test_intervals_for_people(imported):
    tables = imported("perf-stat", "#           time             counts unit events\n"
                      "     1.000123456      1,234,567      cycles\n     1.000123456  <not counted>      instructions\n"
                      "     2.000300000      2,000,000      cycles\n     2.000300000      1,000,000      instructions\n")
    rows = tables["perf_event_core"]
    # What lacks a part in one interval has nothing of it, in any column: ratios stay of the same time.
    assert [time for time, _, _ in rows] == pytest.approx([0, 1.000123456, 2.0003])
    assert [values.get("cycles") for _, _, values in rows] == [0, None, 2000000]
    assert rows[2][2]["instructions"] == 1000000


def test_by_socket(imported):
    tables = imported("perf-stat", "S0;16;1000;;cycles;160;100.00;;\nS1;16;2000;;cycles;160;100.00;;\n")
    assert [(keys["place"], values["cycles"]) for _, keys, values in tables["perf_event_core"]][-2:] == [("S0", 1000), ("S1", 2000)]


def test_hybrid_and_not_counted(imported):
    """[198] Absent with a reason, not 0."""
    tables = imported("perf-stat", "1000,,cpu_core/instructions:u/,500,100.00,,\n<not counted>,,cpu_atom/instructions:u/,0,0.00,,\n")
    assert {keys["pmu"] for _, keys, _ in tables["perf_event_core"]} == {"cpu_core"}
    failed = {keys["pmu"]: values.get("reason") for _, keys, values in tables["perf_event"] if keys["group"] == "core"}
    assert failed == {"cpu_core": None, "cpu_atom": "not counted"}


def test_multiplexed(imported):
    """perf gives the estimate of the whole: half of it was on the PMU for half of the time."""
    values = imported("perf-stat", "1000000;;cycles;500000000;50.00;;\n")["perf_event_core"][-1][2]
    assert (values["cycles"], values["time_enabled"], values["time_running"]) == (500000, 1000000000, 500000000)


def test_a_part_that_hardly_ran(sonde, imported):
    """[131] perf made 6,720,143,357 instructions of cpu_atom out of a fiftieth of them. Kept is what was counted, so that no sum is a third
    too large; the ratio weighs each by it, and beside it stands for how much of the time it was counted."""
    core = imported("perf-stat", "6720143357,,cpu_atom/instructions/,16548968,2.00,,\n20875198260,,cpu_core/instructions/,622042486,97.00,,\n"
                    "3000000000,,cpu_atom/cycles/,16548968,2.00,,\n10000000000,,cpu_core/cycles/,622042486,97.00,,\n")["perf_event_core"]
    counted = {keys["pmu"]: (values["instructions"], values["cycles"]) for _, keys, values in core}
    assert counted == {"cpu_atom": (134402867, 60000000), "cpu_core": (20248942312, 9700000000)}
    metrics = {metric["name"]: metric["value"] for metric in document(sonde, "report", imported.path)["metrics"]}
    assert metrics["cache.ipc"] == pytest.approx((134402867 + 20248942312) / (60000000 + 9700000000))
    assert metrics["cache.running_share"] < 0.5


def test_more_than_a_counter_holds(imported):
    """Absent with a reason; whatever stands beside it is read."""
    tables = imported("perf-stat", "1" + "0" * 40 + ";;cycles;1000;100.00;;\n7;;branches;1000;100.00;;\n")
    assert tables["perf_event_branch"][-1][2]["branches"] == 7
    assert {values.get("reason") for _, keys, values in tables["perf_event"]} == {None, "larger than a counter is"}
    assert "perf_event_core" not in tables


def test_units(imported):
    tables = imported("perf-stat", "12.5;Joules;power/energy-pkg/;1000;100.00;;\n5000.25;msec;task-clock;5000250000;100.00;;\n")
    assert tables["perf_event_energy_pkg"][-1][1:] == ({"pmu": "power"}, {
        "energy_pkg": 12500000, "time_enabled": 1000, "time_running": 1000})
    assert tables["perf_event_task_clock"][-1][2]["task_clock"] == 5000250000


@pytest.mark.parametrize("text, says", [
    ("", "no line of it is one of perf stat's"),
    ("total used free\nMem: 1 2 3\n", "no line of it"),
    ("12,53,msec,task-clock,5000500000,100,00,,\n", "another separator, perf stat -x ';'"),
    ("1,000123456,1234,,cycles,1000,100,00,,\n", "another separator"),
    ("".join(f"1;;event_{i};1;100.00;;\n" for i in range(200)), "more than 128"),
    ("9;;pmu;1000;100.00;;\n", "two columns named pmu"),
])
def test_what_cannot_be_told_apart(refused, text, says):
    assert says in refused("perf-stat", text)


@pytest.mark.parametrize("words, says", [
    ([], "which tool"), (["iostat", "x", "-o", "y"], "iostat"), (["vmstats", "x", "-o", "y"], 'did you mean "vmstat"'),
    (["perf-stat", "--interval", "1s", "x", "-o", "y"], "--interval to vmstat"), (["numastat", "-y", "x", "-o", "y"], "-y"), (["perf-stat"], "one file"), (["perf-stat", "x"], "-o NEW"),
])
def test_misuse(sonde, words, says):
    done = sonde("import", *words)
    assert done.returncode == 2 and says in done.stderr


def test_never_over_a_recording(sonde, imported, tmp_path):
    imported("perf-stat", TEXTS["-x;"])
    done = sonde("import", "perf-stat", tmp_path / "x.txt", "-o", imported.path)
    assert done.returncode == 1 and "is there already" in done.stderr
