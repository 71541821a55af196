"""A small /proc of the tests' own, read through `root =`: every number in it is known, and so are the worst of names."""

# Names that broke other tools; the numbers are those of the corpus of cases. Bytes as /proc/PID/stat has them in brackets.
NAMES = {
    2: b"Plex New Transc",
    3: b"my file with\nsp",
    5: b"bad) S 1 2 3 4",
    6: b"inner-job-\xe5\x90\x8c\xe6\xad",
    167: b'a"b\n\\c,d=e f',
    1000: "\u202egpj.exe".encode(),
    1001: b"\x1b[2Jx\x9b",
    1002: b"=1+1",
}

MEMINFO = {"MemTotal": 16318156, "MemFree": 9007199254740993, "Buffers": 0}  # 2^53 + 1: no double holds it
PSI = {"cpu": ("12.34", 73759571709), "memory": ("0.00", 0), "io": ("100.00", 18446744073709551615)}


def stat_line(pid, name):
    """proc(5), /proc/PID/stat: 52 fields; utime (14) is 100 + pid ticks, stime (15) 7, starttime (22) 5000 + pid."""
    fields = [b"S", b"1"] + [b"0"] * 48
    fields[11], fields[12] = b"%d" % (100 + pid), b"7"
    fields[17] = b"1"
    fields[19] = b"%d" % (5000 + pid)
    return b"%d (%s) " % (pid, name) + b" ".join(fields) + b"\n"


def make_tree(root):
    """The tree under `root`, which is returned."""
    proc = root / "proc"
    (proc / "pressure").mkdir(parents=True)
    (proc / "meminfo").write_text("".join(f"{key}: {value} kB\n" for key, value in MEMINFO.items()))
    (proc / "loadavg").write_text("0.50 1.25 10.00 3/456 789\n")
    for resource, (avg, total) in PSI.items():
        (proc / "pressure" / resource).write_text(
            f"some avg10={avg} avg60=0.00 avg300=0.00 total={total}\n"
            f"full avg10={avg} avg60=0.00 avg300=0.00 total={total}\n"
        )
    for pid, name in NAMES.items():
        folder = proc / str(pid)
        folder.mkdir()
        (folder / "stat").write_bytes(stat_line(pid, name))
    return root


COLLECTORS = "[psi]\n[meminfo]\n[loadavg]\n[process]\nfiles = stat\n"


def configuration(root, *sections, interval="20ms"):
    """The text of a configuration that reads the tree, with these sinks."""
    return (
        f"[agent]\nroot = {root}\nhost = web1\ntags = env=prod\ninterval = {interval}\n{COLLECTORS}"
        + "".join(sections)
    )
