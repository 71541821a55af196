"""Machines that nobody has: trees of /proc and /sys of any size, to measure how cost and memory grow with it.

    tests/generate/machine.py FOLDER cpus=4096 nodes=64 tasks=100000 vmas=1000000

CPUs are spread over nodes in blocks and have two threads a core, the second `cpus / 2` after the first. Process 1 has the VMAs.
Numbers are made by a formula, so that a test can tell what it should find.
"""

import sys
from pathlib import Path

THREADS = 2
VMSTAT = "nr_free_pages 1000\nnuma_hit 5\nnuma_miss 1\npgfault 77\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def ranges(numbers):
    """[0, 1, 4] -> 0-1,4."""
    parts = []
    for n in numbers:
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ",".join(f"{a}-{b}" if a != b else str(a) for a, b in parts)


def siblings(cpu, cpus):
    """CPUs of the same core."""
    half = cpus // THREADS
    return [cpu % half, cpu % half + half] if cpus > 1 else [0]


def node_of(cpu, cpus, nodes):
    """Cores are dealt out to nodes in blocks, both threads of a core to one."""
    half = max(cpus // THREADS, 1)
    return (cpu % half) * nodes // half


def add_cpus(root, cpus, nodes):
    folder = root / "sys/devices/system/cpu"
    for name in ("online", "possible", "present"):
        write(folder / name, f"{ranges(range(cpus))}\n")
    shared = {node: ranges([c for c in range(cpus) if node_of(c, cpus, nodes) == node]) for node in range(nodes)}
    for cpu in range(cpus):
        core = ranges(siblings(cpu, cpus))
        node = node_of(cpu, cpus, nodes)
        files = {"topology/core_id": cpu % max(cpus // THREADS, 1), "topology/physical_package_id": node, "topology/die_id": 0,
                 "topology/thread_siblings_list": core, "cpufreq/scaling_governor": "performance",
                 "cpufreq/scaling_max_freq": 3000000}
        for index, (level, kind, cpulist) in enumerate([(1, "Data", core), (1, "Instruction", core), (2, "Unified", core),
                                                        (3, "Unified", shared[node])]):
            files |= {f"cache/index{index}/level": level, f"cache/index{index}/type": kind,
                      f"cache/index{index}/shared_cpu_list": cpulist, f"cache/index{index}/size": f"{32 << 3 * level}K"}
        for name, value in files.items():
            write(folder / f"cpu{cpu}" / name, f"{value}\n")
    times = " ".join(str(i) for i in range(1, 11))
    write(root / "proc/stat", f"cpu {times}\n" + "".join(f"cpu{c} {times}\n" for c in range(cpus)) + "ctxt 5\nbtime 1\n")
    write(root / "proc/schedstat", "version 15\ntimestamp 4294892296\n" +
          "".join(f"cpu{c} 0 0 0 0 0 0 {c} 0 {c}\n" for c in range(cpus)))


def add_nodes(root, cpus, nodes):
    folder = root / "sys/devices/system/node"
    for name in ("online", "possible", "has_memory"):
        write(folder / name, f"{ranges(range(nodes))}\n")
    for node in range(nodes):
        meminfo = {"MemTotal": 1000000 + node, "MemFree": 5000, "Active(anon)": 7}
        files = {"cpulist": ranges([c for c in range(cpus) if node_of(c, cpus, nodes) == node]),
                 "distance": " ".join("10" if to == node else "20" for to in range(nodes)),
                 "meminfo": "\n".join(f"Node {node} {key}: {value} kB" for key, value in meminfo.items()),
                 "numastat": "numa_hit 10\nnuma_miss 20\nnuma_foreign 30", "vmstat": VMSTAT.strip()}
        for name, text in files.items():
            write(folder / f"node{node}" / name, f"{text}\n")


def stat_line(pid, ppid=1, rss=100):
    """proc_pid_stat(5): utime pid, starttime 1000 + pid, 2 MiB of address space a VMA."""
    fields = ["S", ppid, pid, pid, 0, -1, 0, 0, 0, 0, 0, pid, 1, 0, 0, 20, 0, 1, 0, 1000 + pid, 1 << 30, rss]
    return f"{pid} (task{pid % 100}) " + " ".join(map(str, fields)) + " 0" * 28 + "\n"


def add_tasks(root, tasks):
    for pid in range(1, tasks + 1):
        write(root / f"proc/{pid}/stat", stat_line(pid))
        write(root / f"proc/{pid}/schedstat", f"{pid} 5 7\n")


def add_vmas(root, vmas):
    """Each of one page, on node 0 or 1 by turns."""
    with open(root / "proc/1/numa_maps", "w") as out:
        out.writelines(f"{0x7f0000000000 + i * 0x2000:x} default anon=1 dirty=1 N{i % 2}=1 kernelpagesize_kB=4\n" for i in range(vmas))


def machine(root, cpus=2, nodes=1, tasks=1, vmas=1):
    root = Path(root)
    write(root / "proc/vmstat", VMSTAT)
    write(root / "proc/loadavg", "0.50 1.25 10.00 3/456 789\n")
    add_cpus(root, cpus, nodes)
    add_nodes(root, cpus, nodes)
    add_tasks(root, tasks)
    add_vmas(root, vmas)
    return root


if __name__ == "__main__":
    machine(sys.argv[1], **{key: int(value) for key, value in (word.split("=") for word in sys.argv[2:])})
