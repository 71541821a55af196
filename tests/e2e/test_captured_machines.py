"""Captured machines of many kernels: every value that the system-wide collectors give, beside what Python makes of the same
files after proc(5) and the kernel's documents. Nothing here knows how the collectors read."""

import json
import os
import re
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SONDE_SHARED", ROOT.parent / "shared"))
CAPTURES = sorted([*SHARED.glob("corpus/*.tar.xz"), *SHARED.glob("vm/fixtures/*.tar.xz")])
NODES = "sys/devices/system/node"

TIMES = "user nice system idle iowait irq softirq steal guest guest_nice".split()
SOFTIRQS = ["softirqs"] + [
    "softirqs_" + kind for kind in "hi timer net_tx net_rx block irq_poll tasklet sched hrtimer rcu".split()
]
DISK = (
    "reads reads_merged read_sectors read_time writes writes_merged write_sectors write_time in_flight io_time "
    "weighted_time discards discards_merged discard_sectors discard_time flushes flush_time"
).split()
NET = [
    f"{way}_{what}"
    for way, kinds in (
        ("rx", "bytes packets errs drop fifo frame compressed multicast"),
        ("tx", "bytes packets errs drop fifo colls carrier compressed"),
    )
    for what in kinds.split()
]
SOFTNET = {0: "processed", 1: "dropped", 2: "time_squeeze", 9: "received_rps", 10: "flow_limit_count", 11: "backlog_len"}
# Of /proc/net/snmp, netstat and snmp6: what is read.
STACK = {
    prefix + key: f"{column}_{snake}"
    for prefix, column, keys in (
        ("Ip", "ip", "InReceives InHdrErrors InDiscards InDelivers OutRequests OutDiscards OutNoRoutes ReasmFails FragFails"),
        ("Tcp", "tcp", "ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts "
         "InCsumErrors"),
        ("Udp", "udp", "InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors MemErrors"),
        ("Udp6", "udp6", "InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors"),
        ("TcpExt", "tcp", "SyncookiesSent SyncookiesFailed ListenOverflows ListenDrops PruneCalled RcvPruned"),
        ("TcpExtTCP", "tcp", "ReqQFullDrop Timeouts SynRetrans FastRetrans SlowStartRetrans LostRetransmit LossProbes SpuriousRTOs "
         "RetransFail DSACKRecv OFOQueue RcvCollapsed RcvQDrop BacklogDrop ToZeroWindowAdv ZeroWindowDrop MemoryPressures "
         "MemoryPressuresChrono AbortOnMemory AbortOnTimeout TimeWaitOverflow"),
        ("IpExt", "ip", "InOctets OutOctets"),
    )
    for key in keys.split()
    for snake in [re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=Q)(?=[A-Z][a-z])", "_", re.sub("^(DSACK|OFO)", r"\1_", key)).lower()]
}
SCHED_CPU = {0: "yld_count", 2: "sched_count", 3: "sched_goidle", 4: "ttwu_count", 5: "ttwu_local", 6: "run_time",
             7: "run_delay", 8: "pcount"}
# Documentation/scheduler/sched-stats.rst; the order of groups is that of enum cpu_idle_type.
GROUP_15 = "lb_count lb_balanced lb_failed lb_imbalance lb_gained lb_hot_gained lb_nobusyq lb_nobusyg".split()
GROUP_17 = (
    "lb_count lb_balanced lb_failed lb_imbalance_load lb_imbalance_util lb_imbalance_task lb_imbalance_misfit lb_gained "
    "lb_hot_gained lb_nobusyq lb_nobusyg"
).split()
GROUPS = {15: ("idle", "busy", "newidle"), 16: ("busy", "idle", "newidle"), 17: ("busy", "idle", "newidle")}
BEHIND = (
    "alb_count alb_failed alb_pushed sbe_count sbe_balanced sbe_pushed sbf_count sbf_balanced sbf_pushed "
    "ttwu_wake_remote ttwu_move_affine ttwu_move_balance"
).split()


def text_of(path):
    """None where it cannot be read."""
    try:
        return path.read_text("latin-1")
    except OSError:
        return None


def lines_of(path):
    """Whole lines, as words."""
    text = text_of(path) or ""
    return [line.split() for line in text[: text.rfind("\n") + 1].splitlines()]


def ints(words):
    """As many as there are before something else."""
    numbers = []
    for word in words:
        if not re.fullmatch(r"\d+", word):
            break
        numbers.append(int(word))
    return numbers


def snake(key):
    """MemAvailable: -> mem_available, Active(anon): -> active_anon, SUnreclaim: -> s_unreclaim."""
    key = key.rstrip(":").rstrip(")").replace("(", "_")
    key = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", key)
    return key.lower()


def centi(word):
    """12.34 -> 1234, without a double."""
    whole, _, part = word.partition(".")
    return int(whole) * 100 + int((part + "00")[:2])


def cpu(root):
    rows = {}
    for words in lines_of(root / "proc/stat"):
        name, values = words[0], ints(words[1:]) if words else []
        if re.fullmatch(r"cpu\d+", name):
            rows["cpu", int(name[3:])] = dict(zip(TIMES, values))
        elif name == "cpu":
            rows.setdefault(("stat",), {}).update(zip(TIMES, values))
        elif name == "softirq":
            rows.setdefault(("stat",), {}).update(zip(SOFTIRQS, values))
        elif name in ("ctxt", "btime", "processes", "procs_running", "procs_blocked", "intr"):
            rows.setdefault(("stat",), {})[name] = values[0]
    if (root / "proc/stat").is_file():
        rows.setdefault(("stat",), {})
    return rows


def one_row(table, path, name, first=0):
    """Lines "key number"; keys begin at this word."""
    lines = [words[first:] for words in lines_of(path)]
    values = {name(words[0]): int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
    return {table: values} if path.is_file() else {}


def meminfo(root):
    return one_row(("meminfo",), root / "proc/meminfo", snake)


def vmstat(root):
    return one_row(("vmstat",), root / "proc/vmstat", str)


def loadavg(root):
    rows = {}
    for one, five, fifteen, tasks, last in lines_of(root / "proc/loadavg")[:1]:
        runnable, _, all_tasks = tasks.partition("/")
        rows["loadavg",] = {"load1": centi(one), "load5": centi(five), "load15": centi(fifteen), "runnable": int(runnable),
                            "tasks": int(all_tasks), "last_pid": int(last)}
    return rows


def psi(root):
    rows = {}
    for path in sorted((root / "proc/pressure").glob("*")):
        rows["psi", path.name] = {}
        for kind, *pairs in lines_of(path):
            for name, value in (pair.split("=") for pair in pairs):
                rows["psi", path.name][f"{kind}_{name}"] = int(value) if name == "total" else centi(value)
    return rows


def disk(root):
    rows = {}
    for words in lines_of(root / "proc/diskstats"):
        values = ints(words[3:])
        if len(values) >= 11:
            rows["disk", int(words[0]), int(words[1]), words[2], 0] = dict(zip(DISK, values))  # no /sys/class/block in these
    return rows


def net(root):
    rows = {}
    for line in (text_of(root / "proc/1/net/dev") or "").splitlines()[2:]:
        name, _, values = line.rpartition(":")
        rows["net", name.strip()] = dict(zip(NET, ints(values.split())))
    online = cpu_list(text_of(root / "sys/devices/system/cpu/online") or "")
    for number, words in enumerate(lines_of(root / "proc/1/net/softnet_stat")):
        fields = [int(word, 16) for word in words]
        cpu = fields[12] if len(fields) > 12 else online[number] if number < len(online) else number
        rows["net_softnet", cpu] = {name: fields[i] for i, name in SOFTNET.items() if i < len(fields)}
    said = {}
    for name in ("snmp", "netstat"):
        lines = lines_of(root / "proc/1/net" / name)
        for names, values in zip(lines[::2], lines[1::2]):
            said.update({names[0].rstrip(":") + key: int(value) for key, value in zip(names[1:], values[1:])})
    said.update({words[0]: int(words[1]) for words in lines_of(root / "proc/1/net/snmp6") if words[0].startswith("Udp6")})
    found = {column: said[key] for key, column in STACK.items() if key in said}
    if found:
        rows["net_stack",] = found
    return rows


def buddyinfo(root):
    """Without fragmentation: a tree does not tell its page size."""
    rows = {}
    for words in lines_of(root / "proc/buddyinfo"):
        rows["buddyinfo", int(words[1].rstrip(",")), words[3]] = {f"order{i}": n for i, n in enumerate(ints(words[4:]))}
    return rows


def mask_list(mask):
    """0000000f,00000003 -> 0-1,32-35."""
    bits = int(mask.replace(",", ""), 16)
    cpus = [i for i in range(bits.bit_length()) if bits >> i & 1]
    starts = [i for i in cpus if i - 1 not in cpus]
    ends = [i for i in cpus if i + 1 not in cpus]
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends))


def schedstat(root):
    rows, version, number = {}, 0, None
    for name, *words in lines_of(root / "proc/schedstat"):
        if name == "version":
            version = int(words[0])
        if name in ("version", "timestamp"):
            rows.setdefault(("schedstat_state",), {})[name] = int(words[0])
        if name.startswith("cpu"):
            number = int(name[3:])
            values = ints(words)
            rows["schedstat", number] = {column: values[i] for i, column in SCHED_CPU.items()}
        if name.startswith("domain") and 15 <= version <= 17:
            label = words.pop(0) if version == 17 else ""
            group = GROUP_17 if version == 17 else GROUP_15
            columns = [f"{field}_{when}" for when in GROUPS[version] for field in group] + BEHIND
            values = {"cpus": mask_list(words[0]), **dict(zip(columns, ints(words[1:])))}
            rows["schedstat_domain", number, int(name[6:]), label] = values
    enabled = text_of(root / "proc/sys/kernel/sched_schedstats")
    if rows and enabled:
        rows["schedstat_state",]["enabled"] = int(enabled)
    return rows


def cpu_list(text):
    found = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1) if first else []
    return found


def numa(root):
    rows = {}
    nodes = {int(path.name[4:]): path for path in (root / NODES).glob("node[0-9]*")}
    online = text_of(root / NODES / "online")
    online = cpu_list(online) if online is not None else sorted(nodes)
    has_memory = text_of(root / NODES / "has_memory")
    for node, path in nodes.items():
        if node not in online:
            continue
        rows.update(one_row(("numa_meminfo", node), path / "meminfo", snake, 2))
        rows.update(one_row(("numa_vmstat", node), path / "vmstat", str))
        row = one_row(("numa", node), path / "numastat", str).get(("numa", node), {})
        if has_memory is not None:
            row["has_memory"] = int(node in cpu_list(has_memory))
        if (cpulist := text_of(path / "cpulist")) is not None:
            row["cpulist"] = cpulist.rstrip("\n")
        for tier in (root / "sys/devices/virtual/memory_tiering").glob("memory_tier[0-9]*"):
            if node in cpu_list(text_of(tier / "nodelist") or ""):
                row["tier"] = int(tier.name[11:])
        for name in ("read_latency", "write_latency", "read_bandwidth", "write_bandwidth"):
            if (value := text_of(path / "access0/initiators" / name)) is not None:
                row[name] = int(value)
        rows["numa", node] = row
        distances = (text_of(path / "distance") or "").split()
        if len(distances) == len(online):
            rows.update({("numa_distance", node, to): {"distance": int(d)} for to, d in zip(online, distances)})
    return rows


def thp(root):
    """Pools of hugetlb pages."""
    rows = {}
    for size in (root / "sys/kernel/mm/hugepages").glob("hugepages-*kB"):
        counts = {path.name: int(text) for path in size.iterdir()
                  if (text := (text_of(path) or "").strip()).isdigit() and path.name != "nr_hugepages_mempolicy"}
        if "nr_hugepages" in counts:
            rows["hugetlb", int(re.sub(r"\D", "", size.name))] = counts
    for size in (root / NODES).glob("node[0-9]*/hugepages/hugepages-*kB"):
        counts = {path.name: int(text) for path in size.iterdir() if (text := (text_of(path) or "").strip()).isdigit()}
        rows["hugetlb_node", int(size.parents[1].name[4:]), int(re.sub(r"\D", "", size.name))] = counts
    return rows


def irq(root):
    """By the headings' CPUs; a lone number is of none of them."""
    rows, lines = {}, (text_of(root / "proc/interrupts") or "").splitlines()
    online = [int(word[3:]) for word in lines[0].split()] if lines else None
    for line in lines[1:]:
        name, _, rest = line.strip().partition(":")
        counts = ints(rest.split()[: len(online)])
        if not any(counts):
            continue
        rows["irq", name] = {"total": sum(counts) % 2**32}
        if description := rest.split(None, len(counts))[len(counts):]:
            rows["irq", name]["description"] = description[0].strip()
        if len(counts) == len(online):
            rows.update({("irq_cpu", name, cpu): {"count": count} for cpu, count in zip(online, counts) if count})
    lines = (text_of(root / "proc/softirqs") or "").splitlines()
    possible = [int(word[3:]) for word in lines[0].split()] if lines else []
    for name, *counts in filter(None, map(str.split, lines[1:])):
        for cpu, count in zip(possible, counts):
            if online is None or cpu in online:
                rows.setdefault(("softirq", cpu), {})[name.rstrip(":").lower()] = int(count)
    return rows


CGROUP_V2 = {
    "cpu.stat": {"usage_usec": ("usage", 1000), "user_usec": ("user", 1000), "system_usec": ("system", 1000),
                 "nice_usec": ("nice", 1000), "nr_periods": ("nr_periods", 1), "nr_throttled": ("nr_throttled", 1),
                 "throttled_usec": ("throttled", 1000), "nr_bursts": ("nr_bursts", 1), "burst_usec": ("burst", 1000)},
    "memory.events": {key: (f"events_{key}", 1) for key in "low high max oom oom_kill oom_group_kill".split()},
    "pids.events": {"max": ("pids_events_max", 1)},
}
CGROUP_V1 = {
    "cpu.stat": {"nr_periods": ("nr_periods", 1), "nr_throttled": ("nr_throttled", 1), "throttled_time": ("throttled", 1),
                 "nr_bursts": ("nr_bursts", 1), "burst_time": ("burst", 1)},
    "memory.oom_control": {"oom_kill": ("events_oom_kill", 1)},
    "pids.events": {"max": ("pids_events_max", 1)},
}
# Files of one number, in either version.
CGROUP_NUMBERS = {
    "memory.current": "memory_current", "memory.peak": "memory_peak", "memory.swap.current": "memory_swap_current",
    "memory.max": "memory_max", "memory.high": "memory_high", "memory.swap.max": "memory_swap_max", "cpu.weight": "cpu_weight",
    "pids.current": "pids_current", "pids.max": "pids_max", "cpuacct.usage": "usage", "cpu.shares": "cpu_shares",
    "cpu.cfs_quota_us": "cpu_quota", "cpu.cfs_period_us": "cpu_period", "memory.usage_in_bytes": "memory_current",
    "memory.max_usage_in_bytes": "memory_peak", "memory.failcnt": "events_max", "memory.limit_in_bytes": "memory_max",
}
CGROUP_IO = {"rbytes", "wbytes", "rios", "wios", "dbytes", "dios"}
# Sums of version 1 that the collector has no column for.
CGROUP_V1_UNREAD = {f"total_workingset_{what}" for what in "activate_anon activate_file nodereclaim restore_anon restore_file".split()}
NO_LIMIT = 2**63 - 2**18


def cgroup_files(rows, path, folder, v1):
    """What one folder adds to the rows of its path."""
    row = rows.setdefault(("cgroup", path, 0), {})
    for name, keys in (CGROUP_V1 if v1 else CGROUP_V2).items():
        for words in lines_of(folder / name):
            if words[0] in keys:
                column, scale = keys[words[0]]
                row[column] = int(words[1]) * scale
    for name, column in CGROUP_NUMBERS.items():
        text = (text_of(folder / name) or "").strip()
        if text.isdigit() and int(text) <= NO_LIMIT:
            row[column] = int(text)
    for quota, period in lines_of(folder / "cpu.max"):
        row.update({"cpu_period": int(period)} | ({} if quota == "max" else {"cpu_quota": int(quota)}))
    for column, names in {"cpuset_cpus": ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"),
                          "cpuset_mems": ("cpuset.mems.effective", "cpuset.effective_mems", "cpuset.mems")}.items():
        found = [text for name in (names[1:] if v1 else names[:1]) if (text := text_of(folder / name)) is not None]
        if found:
            row[column] = found[0].rstrip("\n")
    stat = {words[0]: int(words[1]) for words in lines_of(folder / "memory.stat")}
    if v1 and stat.get("hierarchical_memory_limit", NO_LIMIT + 1) <= NO_LIMIT:
        row["effective_memory_max"] = stat["hierarchical_memory_limit"]
    if stat:
        rows[("cgroup_memory_v1" if v1 else "cgroup_memory", path, 0)] = {
            key: value for key, value in stat.items() if not v1 or (key.startswith("total_") and key not in CGROUP_V1_UNREAD)}
    for resource in ("cpu", "memory", "io", "irq"):
        if not v1 and (folder / f"{resource}.pressure").is_file():
            rows["cgroup_pressure", path, 0, resource] = {
                f"{words[0]}_total": int(words[-1].removeprefix("total=")) for words in lines_of(folder / f"{resource}.pressure")}
    for device, *pairs in lines_of(folder / "io.stat"):
        values = dict(pair.split("=") for pair in pairs)
        if known := CGROUP_IO & set(values):
            rows[("cgroup_io", path, 0, *map(int, device.split(":")))] = {key: int(values[key]) for key in known}
    for name, column in {"blkio.throttle.io_service_bytes": "bytes", "blkio.throttle.io_serviced": "ios"}.items():
        for words in lines_of(folder / name):
            if len(words) == 3 and words[1] in ("Read", "Write", "Discard"):
                key = ("cgroup_io", path, 0, *map(int, words[0].split(":")))
                rows.setdefault(key, {})[words[1][0].lower() + column] = int(words[2])


def effective(rows, paths):
    """The least limit of a cgroup and all above it, top down, and whose it is."""
    for path in paths:
        row, above = rows["cgroup", path, 0], rows.get(("cgroup", path.rpartition("/")[0] or "/", 0), {}) if path != "/" else {}
        if "effective_cpus" in above:
            row.update(effective_cpus=above["effective_cpus"], effective_cpus_from=above["effective_cpus_from"])
        if "cpu_quota" in row and row["cpu_period"] and row["cpu_quota"] / row["cpu_period"] < row.get("effective_cpus", 1e9):
            row.update(effective_cpus=row["cpu_quota"] / row["cpu_period"], effective_cpus_from=path)
        if "memory_max" in row and row["memory_max"] <= row.get("effective_memory_max", NO_LIMIT):
            row.update(effective_memory_max=row["memory_max"], effective_memory_max_from=path)
        if "effective_memory_max" in above and above["effective_memory_max"] <= row.get("effective_memory_max", NO_LIMIT):
            row["effective_memory_max"] = above["effective_memory_max"]
            if "effective_memory_max_from" in above:
                row["effective_memory_max_from"] = above["effective_memory_max_from"]


def unit_of(path):
    """The deepest unit, slices only where there is no other."""
    names = [name for name in path.split("/") if re.search(r".\.(slice|service|scope|socket|mount|swap)$", name)]
    return ([name for name in names if not name.endswith(".slice")] or names or [None])[-1]


def depth(path):
    return path.count("/") if path != "/" else 0


def cgroup(root):
    rows, paths = {}, []
    read = {"cpu", "cpuacct", "cpuset", "memory", "blkio", "pids"}
    for _, point, kind, options, *_ in lines_of(root / "proc/mounts"):
        if kind != "cgroup2" and (kind != "cgroup" or not read & set(options.split(","))):
            continue
        top = root / point.strip("/")
        for folder, folders, _ in os.walk(top):
            path = "/" + os.path.relpath(folder, top).removeprefix(".")
            folders[:] = folders if depth(path) < 5 else []
            cgroup_files(rows, path, Path(folder), kind == "cgroup")
            paths.append(path)
    effective(rows, sorted(set(paths), key=depth))
    for key in [key for key in rows if key[0] == "cgroup"]:
        if unit := unit_of(key[1]):
            rows[key]["unit"] = unit
        if hexes := re.findall(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", key[1]):
            rows[key]["container_id"] = hexes[-1]
        if set(rows[key]) <= {"unit", "container_id"}:
            del rows[key]
    return rows


# What is expected of each collector, and in which of its tables nothing else may be. (thp's settings and single sizes are
# many files more.)
EXPECTED = {
    cpu: ("cpu", "stat"),
    schedstat: ("schedstat", "schedstat_domain", "schedstat_state"),
    psi: ("psi",),
    meminfo: ("meminfo",),
    vmstat: ("vmstat",),
    thp: ("hugetlb", "hugetlb_node"),
    numa: ("numa", "numa_meminfo", "numa_vmstat", "numa_distance"),
    loadavg: ("loadavg",),
    disk: ("disk",),
    net: ("net", "net_softnet", "net_stack"),
    buddyinfo: ("buddyinfo",),
    irq: ("irq", "irq_cpu", "softirq"),
    cgroup: ("cgroup", "cgroup_memory", "cgroup_memory_v1", "cgroup_pressure", "cgroup_io"),
}
READ = re.compile(r"(^|/)(proc/(\w+|pressure/\w+|1/net/(dev|softnet_stat|snmp6?|netstat)|sys/kernel/sched_schedstats)|(sys/(kernel/mm|devices/system/node|devices/system/cpu/online|devices/virtual/memory_tiering|fs/cgroup)|cgroup)(/.*)?)$")


def merged(rows):
    """Columns of a newer kernel, which stand in tables of their own, beside those that are known."""
    found = {}
    for row in rows:
        key = (re.sub("_more$", "", row["table"]), *row["keys"].values())
        found.setdefault(key, {}).update(row["values"])
    return found


def roots(folder):
    """Trees in an unpacked capture: folders that hold a proc or a sys; of the kernels booted for it, the first instant."""
    found = {path.parent for name in ("proc", "sys") for path in folder.rglob(name) if path.is_dir()}
    outer = (path for path in found if not {"proc", "sys"} & set(path.relative_to(folder).parts))
    return sorted(path for path in outer if path.name not in ("t1", "t2"))


def sampled(sonde, folder, root):
    """Rows of one sample of all collectors, and the notes: (collector, text)."""
    config = folder / "collectors.ini"
    sections = "".join(f"[{reader.__name__}]\noptional = yes\n" for reader in EXPECTED)
    config.write_text(f"[agent]\ninterval = 1s\nroot = {root}\n{sections}[sink:stdout]\nformat = json\n")
    done = sonde("agent", "-c", config, "--max-frames", 1)
    if done.returncode == 1 and "nothing to read" in done.stderr:
        return {}, []
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    notes = [(row["values"]["instance"], row["values"]["text"]) for row in rows if row["table"] == "note"]
    return merged(row for row in rows if row["instance"] != "sonde"), notes


def unpack(capture, folder):
    """What these collectors read of it. proc/net is a link to what its reader sees; under a root, init's is read."""
    with tarfile.open(capture) as tar:
        members = [member for member in tar if member.isfile()]
        for member in members:
            member.name = re.sub(r"(^|/)proc/net/(?=(dev|softnet_stat|snmp6?|netstat)$)", r"\1proc/1/net/", member.name)
        tar.extractall(folder, [member for member in members if READ.search(member.name)])


def assert_tree(sonde, folder, root):
    rows, _ = sampled(sonde, folder, root)
    for reader, tables in EXPECTED.items():
        got = {key: values for key, values in rows.items() if key[0] in tables}
        assert got == reader(root), (root, reader.__name__)


@pytest.mark.skipif(not CAPTURES, reason="no captured machines: SONDE_SHARED or ../shared is not there")
@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name.split(".tar")[0])
def test_every_value(sonde, tmp_path, capture):
    """No row more or less than the files hold, no value other than in them."""
    unpack(capture, tmp_path / "tree")
    for root in roots(tmp_path / "tree"):
        assert_tree(sonde, tmp_path, root)


@pytest.fixture
def captured(shared, tmp_path):
    """captured("vm/fixtures/NAME") unpacks that capture and returns the folder."""

    def get(name):
        unpack(shared / f"{name}.tar.xz", tmp_path / "tree")
        return tmp_path / "tree"

    return get


@pytest.mark.parametrize("machine", ["x86_64-64cpu", "x86_64-epyc_7451"])
def test_nodes_as_lscpu_says(sonde, shared, captured, tmp_path, machine):
    (root,) = roots(captured(f"corpus/lscpu-{machine}"))
    with tarfile.open(shared / "corpus/lscpu-expected.tar.xz") as tar:
        said = tar.extractfile(f"./lscpu-{machine}").read().decode()
    rows, _ = sampled(sonde, tmp_path, root)
    assert sorted(key[1] for key in rows if key[0] == "numa") == [int(n) for n in re.findall(r"^NUMA node(\d+) CPU", said, re.M)]


def test_single_files(sonde, shared, tmp_path):
    """Files of several machines, each without the others."""
    with tarfile.open(shared / "corpus/jc-fixtures.tar.xz") as tar:
        for member in tar:
            folder, _, name = member.name.rpartition("/")
            if folder.endswith("linux-proc") and member.isfile():
                path = tmp_path / ("two" if name[-1] == "2" else "one") / "proc" / name.rstrip("2")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(tar.extractfile(member).read())
    assert_tree(sonde, tmp_path, tmp_path / "one")
    assert_tree(sonde, tmp_path, tmp_path / "two")


def test_a_kernel_without_psi(sonde, captured, tmp_path):
    """Booted with psi=0: one note that says what would give it, no row, and all else is there."""
    (root,) = roots(captured("vm/fixtures/numa2-6.1-nopsi"))
    rows, notes = sampled(sonde, tmp_path, root)
    (said,) = [text for instance, text in notes if instance == "psi"]
    assert "psi=0" in said
    assert not any(key[0] == "psi" for key in rows)
    assert ("schedstat", 3) in rows and ("meminfo",) in rows


def test_counts_that_are_switched_off(sonde, captured, tmp_path):
    """74: kernel.sched_schedstats is 0: told, so that nobody takes 0 for none; what counts all the same is there."""
    (root,) = roots(captured("vm/fixtures/numa2-6.1-nostats"))
    rows, notes = sampled(sonde, tmp_path, root)
    (said,) = [text for instance, text in notes if instance == "schedstat"]
    assert "kernel.sched_schedstats=1" in said
    assert rows["schedstat_state",]["enabled"] == 0
    assert rows["schedstat", 0]["sched_count"] == 0 and rows["schedstat", 0]["run_delay"] > 0


def test_cpus_that_go_and_come_back(sonde, captured, tmp_path):
    """15, 16: the row of a CPU that is offline is absent, never its last values; its counters are its own when it is back,
    and those of scheduling domains begin anew."""
    root = captured("vm/fixtures/numa2-6.1-offline") / "numa2-6.1-offline"
    online = {"t0": [0, 1, 2, 3], "t1": [0, 2], "t2": [0, 2, 3]}  # sys/devices/system/cpu/online
    instants = {name: sampled(sonde, tmp_path, root / name)[0] for name in online}
    for name, rows in instants.items():
        for table in ("cpu", "schedstat"):
            assert sorted(key[1] for key in rows if key[0] == table) == online[name]
    balanced = [instants[name]["schedstat_domain", 0, 0, ""]["lb_balanced_idle"] for name in online]
    assert balanced == [225, 0, 0]  # proc/schedstat, domain0 of cpu0: number 2
