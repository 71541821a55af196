"""contrib/plugin-template, as docs/plugin-guide.md tells it: built outside the tree with the public headers alone, and run."""

import json
import re
import shutil
import subprocess

from compiling import INCLUDE, ROOT, environment

TEMPLATE = ROOT / "contrib" / "plugin-template"


def build_outside(tmp_path):
    folder = tmp_path / "plugin"
    shutil.copytree(TEMPLATE, folder)
    include = tmp_path / "include"
    shutil.copytree(INCLUDE, include)
    subprocess.run(["make", "-C", str(folder), f"INCLUDE={include}"], check=True, timeout=60, stdout=subprocess.DEVNULL)
    return folder


def test_size():
    """A collector is about 50 lines."""
    assert len((TEMPLATE / "uptime.c").read_text().splitlines()) <= 60


def test_run(tmp_path, sonde, agent, wait_until):
    """Its values lie between two readings of /proc/uptime; its own sample configuration has no mistakes."""
    folder = build_outside(tmp_path)
    assert sonde("check", "-c", folder / "uptime.ini", env=environment(folder)).returncode == 0
    before = float(open("/proc/uptime").read().split()[0])
    running = agent("agent", "-c", folder / "uptime.ini", env=environment(folder))
    line = wait_until(lambda: "\n" in running.stdout and running.stdout.splitlines()[0])
    after = float(open("/proc/uptime").read().split()[0])
    assert running.end() == 0, running.stderr
    row = json.loads(line)
    assert row["table"] == "uptime"
    assert before <= row["values"]["up"] / 100 <= after
    assert row["values"]["idle"] > 0


def test_told(tmp_path, sonde):
    folder = build_outside(tmp_path)
    result = sonde("explain", "uptime.up", env=environment(folder))
    assert result.returncode == 0
    assert re.search(r"^origin +/proc/uptime, first number$", result.stdout, re.M)


def test_guide_shows_this_code():
    """What the guide prints is the template, line by line."""
    guide = (ROOT / "docs" / "plugin-guide.md").read_text()
    code = (TEMPLATE / "uptime.c").read_text()
    assert "```c\n" + code + "```" in guide
