"""The system-wide collectors: the real program on fixtures and on this machine, beside what Python, free and vmstat read;
captured machines are in test_captured_machines.py."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COLLECTORS = "cpu schedstat psi meminfo vmstat thp numa loadavg disk net buddyinfo numa_maps topology smaps cgroup irq".split()
FIXTURES = [path for name in COLLECTORS for path in sorted((ROOT / "plugins" / name / "fixtures").iterdir())]

TIMES = "user nice system idle iowait irq softirq steal guest guest_nice".split()
DISK = (
    "reads reads_merged read_sectors read_time writes writes_merged write_sectors write_time in_flight io_time "
    "weighted_time discards discards_merged discard_sectors discard_time flushes flush_time"
).split()


@pytest.fixture
def sample(sonde, tmp_path):
    """Rows of one sample of these collectors: {(table, keys as a tuple): values}, and the texts of notes."""

    def run(names, root=""):
        config = tmp_path / "collectors.ini"
        sections = "".join(f"[{name}]\noptional = yes\n" for name in names)
        config.write_text(
            f"[agent]\ninterval = 100ms\n{f'root = {root}' if root else ''}\n{sections}[sink:stdout]\nformat = json\n"
        )
        done = sonde("agent", "-c", config, "--max-frames", 1)
        if done.returncode == 1 and "nothing to read" in done.stderr:  # none of these is there: what the kernel lacks
            return {}, []
        assert done.returncode == 0, done.stderr
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        notes = [row["values"]["text"] for row in rows if row["table"] == "note"]
        return {(row["table"], *row["keys"].values()): row["values"] for row in rows}, notes

    return run


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_fixture(sample, fixture):
    """All rows that are expected, and no other of these tables."""
    expected = [json.loads(line) for line in (fixture / "expected.jsonl").read_text().splitlines()]
    rows, _ = sample([fixture.parent.parent.name], fixture)
    tables = {row["table"] for row in expected}
    for values in rows.values():
        values.pop("taken", None)  # when it was read: now
    assert {(row["table"], *row["keys"].values()): row["values"] for row in expected} == {
        key: values for key, values in rows.items() if key[0] in tables
    }


def numbers(text, key=0, value=1):
    """{word: number} of lines such as "pgfault 123"."""
    return {line.split()[key].rstrip(":"): int(line.split()[value]) for line in text.splitlines()}


def between(before, value, after):
    return before <= value <= after


def test_cpu_live(sample):
    """Counters lie between what was read before and after."""
    read = lambda: {line.split()[0]: [int(n) for n in line.split()[1:]] for line in open("/proc/stat")}
    before = read()
    rows, _ = sample(["cpu"])
    after = read()
    cpus = [word for word in before if re.fullmatch(r"cpu\d+", word)]
    assert {key[1] for key in rows if key[0] == "cpu"} == {int(word[3:]) for word in cpus}
    for word in cpus:
        for i, name in enumerate(TIMES):
            if name not in ("idle", "iowait"):  # these go back at times
                assert between(before[word][i], rows["cpu", int(word[3:])][name], after[word][i]), (word, name)
    stat = rows["stat",]
    assert between(before["ctxt"][0], stat["ctxt"], after["ctxt"][0])
    assert between(before["intr"][0], stat["intr"], after["intr"][0])
    assert between(before["processes"][0], stat["processes"], after["processes"][0])
    assert abs(stat["btime"] - before["btime"][0]) <= 1


def test_memory_live(sample):
    before = numbers(Path("/proc/vmstat").read_text())
    rows, _ = sample(["meminfo", "vmstat"])
    after = numbers(Path("/proc/vmstat").read_text())
    vmstat = rows["vmstat",] | rows.get(("vmstat_more",), {})
    assert set(vmstat) == set(before)
    for key in "pgfault pgmajfault pgfree pgpgin pgpgout pswpin pswpout oom_kill".split():
        assert between(before[key], vmstat[key], after[key]), key
    free = subprocess.run(["free", "-k"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert rows["meminfo",]["mem_total"] == int(free[1].split()[1])
    assert rows["meminfo",]["swap_total"] == int(free[2].split()[1])
    lines = subprocess.run(["vmstat", "-s"], capture_output=True, text=True, check=True).stdout.splitlines()
    said = {line.strip().split(" ", 1)[1]: int(line.split()[0]) for line in lines}
    assert rows["meminfo",]["mem_total"] == said["K total memory"]
    assert vmstat["pgpgin"] <= said["K paged in"] and vmstat["pswpin"] <= said["pages swapped in"]
    assert len(rows["meminfo",]) + len(rows.get(("meminfo_more",), {})) == len(Path("/proc/meminfo").read_text().splitlines())


def test_disk_and_net_live(sample):
    def disks():
        rows = (line.split() for line in open("/proc/diskstats"))
        return {(int(row[0]), int(row[1]), row[2]): dict(zip(DISK, map(int, row[3:]))) for row in rows}

    def bytes_received():
        return {line.split(":")[0].strip(): int(line.split(":")[1].split()[0]) for line in list(open("/proc/net/dev"))[2:]}

    before, received = disks(), bytes_received()
    rows, _ = sample(["disk", "net"])
    after, received_after = disks(), bytes_received()
    found = {key[1:4]: (key[4], values) for key, values in rows.items() if key[0] == "disk"}
    assert set(found) == set(before)
    for key in before:
        sequence, values = found[key]
        for name in ("reads", "write_sectors", "flushes"):
            assert between(before[key][name], values[name], after[key][name]), (key, name)
        folder = Path("/sys/class/block") / key[2].replace("/", "!")
        part = folder / "partition"
        assert values["partition"] == (int(part.read_text()) if part.exists() else 0)
        whole = folder.resolve().parent if part.exists() else folder
        assert sequence == (int((whole / "diskseq").read_text()) if (whole / "diskseq").exists() else 0)
    assert {key[1] for key in rows if key[0] == "net"} == set(received)
    for name in received:
        assert between(received[name], rows["net", name]["rx_bytes"], received_after[name])


def test_psi_live(sample):
    """A machine without PSI gets a note that says what would give it."""
    files = [path for path in Path("/proc/pressure").glob("*")]
    rows, notes = sample(["psi", "loadavg"])
    total = lambda path: int(re.search(r"total=(\d+)", path.read_text())[1])
    try:
        after = {path.name: total(path) for path in files}
    except OSError:
        files = []
    if not files:
        assert any("psi=1" in note or "CONFIG_PSI" in note for note in notes)
        return
    assert {key[1] for key in rows if key[0] == "psi"} == set(after)
    for name, value in after.items():
        first = "full_total" if name == "irq" else "some_total"
        assert 0 <= value - rows["psi", name][first] < 60_000_000


def test_schedstat_live(sample):
    """Case 74: a kernel without it gets a note, not zeros."""
    rows, notes = sample(["schedstat", "loadavg"])
    if Path("/proc/schedstat").exists():
        assert {key[1] for key in rows if key[0] == "schedstat"} == {
            int(line.split()[0][3:]) for line in open("/proc/schedstat") if line.startswith("cpu")
        }
    else:
        assert any("CONFIG_SCHEDSTATS" in note for note in notes)
        assert not any(key[0].startswith("schedstat") for key in rows)


def test_huge_pages_and_nodes_live(sample):
    rows, notes = sample(["thp", "numa"])
    thp = Path("/sys/kernel/mm/transparent_hugepage")
    if thp.exists():
        assert rows["thp",]["enabled"] == re.search(r"\[(.*)\]", (thp / "enabled").read_text())[1]
    nodes = sorted(Path("/sys/devices/system/node").glob("node[0-9]*"))
    assert {key[1] for key in rows if key[0] == "numa"} == {int(node.name[4:]) for node in nodes}
    for node in nodes:
        number = int(node.name[4:])
        meminfo = numbers((node / "meminfo").read_text(), 2, 3)
        assert rows["numa_meminfo", number]["mem_total"] == meminfo["MemTotal"]
        assert rows["numa", number]["cpulist"] == (node / "cpulist").read_text().strip()
        hit = numbers((node / "numastat").read_text())["numa_hit"]
        assert rows["numa", number]["numa_hit"] <= hit


def test_load_and_fragmentation_live(sample):
    rows, _ = sample(["loadavg", "buddyinfo"])
    assert rows["loadavg",]["tasks"] > 0
    assert 0 <= rows["loadavg",]["load15"] - float(Path("/proc/loadavg").read_text().split()[2]) * 100 + 50 < 100
    zones = [line.split() for line in open("/proc/buddyinfo")]
    assert {key[1:] for key in rows if key[0] == "buddyinfo"} == {(int(zone[1].rstrip(",")), zone[3]) for zone in zones}
    assert all(sum(name.startswith("order") for name in rows["buddyinfo", int(zone[1].rstrip(",")), zone[3]]) == len(zone) - 4 for zone in zones)


def test_interrupts_live(sample):
    """Each CPU's columns, and sums, between what was read before and after."""

    def read(path):
        lines = Path(path).read_text().splitlines()
        cpus = [int(word[3:]) for word in lines[0].split()]
        rows = (line.split() for line in lines[1:])
        return {row[0].rstrip(":"): dict(zip(cpus, map(int, row[1 : len(cpus) + 1]))) for row in rows if len(row) > len(cpus)}

    before, soft = read("/proc/interrupts"), read("/proc/softirqs")
    rows, _ = sample(["irq"])
    after, soft_after = read("/proc/interrupts"), read("/proc/softirqs")
    for name, counts in before.items():
        for cpu, count in counts.items():
            assert between(count, rows.get(("irq_cpu", name, cpu), {"count": 0})["count"], after[name][cpu]), (name, cpu)
        assert between(sum(counts.values()), rows.get(("irq", name), {"total": 0})["total"], sum(after[name].values()))
    online = {cpu for counts in before.values() for cpu in counts}
    assert {key[1] for key in rows if key[0] == "softirq"} == online
    for cpu in online:
        for kind, counts in soft.items():
            assert between(counts[cpu], rows["softirq", cpu][kind.lower()], soft_after[kind][cpu])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount debugfs, for the kernel's own numbers")
def test_fragmentation_as_the_kernel_says(sample):
    """extfrag/unusable_index of debugfs, mounted where nobody else sees it; memory in use moves it a little meanwhile."""
    command = "mount -t debugfs none /sys/kernel/debug && cat /sys/kernel/debug/extfrag/unusable_index"
    done = subprocess.run(["unshare", "-m", "sh", "-c", command], capture_output=True, text=True)
    size = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
    if done.returncode or not size.exists():
        pytest.skip("no debugfs, or no huge pages")
    order = (int(size.read_text()) // os.sysconf("SC_PAGESIZE")).bit_length() - 1
    rows, _ = sample(["buddyinfo"])
    for line in done.stdout.splitlines():
        words = line.split()
        ours = rows["buddyinfo", int(words[1].rstrip(",")), words[3]]["huge_unusable"]
        assert abs(ours / 1000 - float(words[4 + order])) < 0.05, line


def test_network_stack_live(sample):
    """netstat -s reads the same files; here they are read before and after."""

    def read():
        found = {}
        for path in ("/proc/net/snmp", "/proc/net/netstat"):
            lines = [line.split() for line in open(path)]
            for names, values in zip(lines[::2], lines[1::2]):
                found.update({names[0] + key: int(value) for key, value in zip(names[1:], values[1:])})
        return found

    before = read()
    rows, _ = sample(["net"])
    after = read()
    stack = rows["net_stack",]
    for key, column in {"Tcp:RetransSegs": "tcp_retrans_segs", "Tcp:InSegs": "tcp_in_segs", "TcpExt:ListenDrops": "tcp_listen_drops",
                        "Udp:RcvbufErrors": "udp_rcvbuf_errors", "Udp:InDatagrams": "udp_in_datagrams",
                        "TcpExt:TCPTimeouts": "tcp_timeouts", "Ip:InReceives": "ip_in_receives"}.items():
        assert between(before[key], stack[column], after[key]), key
    assert {key[1] for key in rows if key[0] == "net_softnet"} == {key[1] for key in sample(["cpu"])[0] if key[0] == "cpu"}
