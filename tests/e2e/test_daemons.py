"""record -- COMMAND: what the command starts stays in its tree, whoever its parent becomes."""

import sys

from live import rows

# A daemon by the book: its first child starts another and ends at once, which leads a session of its own.
COMMAND = """
import os, sys, time
folder = sys.argv[1]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        with open(folder + "/daemon", "w") as out:
            out.write(str(os.getpid()))
        os.rename(folder + "/daemon", folder + "/started")
        while not os.path.exists(folder + "/enough"):
            time.sleep(0.01)
    os._exit(0)
os.wait()
while not os.path.exists(folder + "/started"):
    time.sleep(0.01)
time.sleep(0.5)  # of samples with the daemon in them
open(folder + "/enough", "w").close()
pid = open(folder + "/started").read()
end = time.monotonic() + 10
while os.path.exists("/proc/" + pid) and time.monotonic() < end:
    time.sleep(0.01)
print(os.getpid(), os.getppid(), pid, os.path.exists("/proc/" + pid), flush=True)
"""


def test_daemon(sonde, tmp_path):
    path = tmp_path / "a.sonde"
    done = sonde("record", "-q", "-i", "20ms", "-o", path, "--", sys.executable, "-S", "-c", COMMAND, tmp_path)
    assert done.returncode == 0, done.stderr
    command, recorder, daemon, left = done.stdout.split()
    seen = {}
    for row in rows(sonde("cat", "--json", path).stdout, "process"):
        seen.setdefault(row["keys"]["pid"], []).append(row["values"])
    assert int(command) in seen and int(daemon) in seen
    assert int(recorder) not in seen
    assert len(seen[int(daemon)]) > 5
    # An orphan that ended was waited for: none is left as a zombie.
    assert left == "False"
