"""A long recording of a machine on which a million processes come and go: its report takes no more memory for them."""

import re
import subprocess
import sys

import pytest

from compiling import ROOT, environment, shared_object
from live import sanitized

EACH, SECONDS = 250, 4200  # new processes a second, seconds of the recorded machine


@pytest.fixture(scope="module")
def recording(sonde, build, tmp_path_factory):
    if sanitized(build):
        pytest.skip("a sanitizer's memory is its own")
    folder = tmp_path_factory.mktemp("crowd")
    plugin = shared_object(ROOT / "tests" / "e2e" / "plugins" / "crowd.c", folder / "plugins")
    (folder / "crowd.ini").write_text(f"[agent]\ninterval = 1ms\n[crowd]\n[sink:file]\npath = {folder}/crowd.sonde\nring = 64MiB\n")
    sonde("agent", "-c", folder / "crowd.ini", "--max-frames", SECONDS, env=environment(plugin.parent), check=True, timeout=110)
    return folder / "crowd.sonde"


# ru_maxrss counts what a process had before its exec(2), too, which is its parent's: here one that is small.
MEASURE = """import resource, subprocess, sys
text = subprocess.run(sys.argv[1:], check=True, stdout=subprocess.PIPE).stdout
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.stdout.flush()
sys.stdout.buffer.write(text)
"""


def report(build, recording):
    """What it says, and the most memory that it had, in bytes."""
    command = [sys.executable, "-c", MEASURE, build / "sonde", "report", recording]
    most, text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n", 1)
    return text, int(most)


def test_a_million_processes(build, recording):
    text, most = report(build, recording)
    assert EACH * int(re.search(r"(\d+) instants", text).group(1)) > 1000000
    assert "cpu.process_runq_wait" in text
    assert most <= 64 << 20, f"{most >> 20} MiB"
