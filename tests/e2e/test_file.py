"""The file sink as an ops team meets it: rotation, caps, logrotate, full disks, kill -9.

Cases of the corpus: 143 to 145 (what a crash leaves is never appended to), 160 (a sink that is down, bounded).
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess

import pytest

from captured import configuration, make_tree


@pytest.fixture
def config(tmp_path):
    """config(*sections): a configuration file that reads the tests' own tree."""
    tree = make_tree(tmp_path / "tree")

    def write(*sections, **options):
        path = tmp_path / "agent.ini"
        path.write_text(configuration(tree, *sections, **options))
        return path

    return write


@pytest.fixture
def rows(sonde):
    """rows(path): of a recording that is whole."""

    def read(path):
        done = sonde("cat", "--json", path)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return read


def numbers(rows):
    """Of its instants; the end of a file that others follow has the number of what comes next."""
    return sorted({row["sequence"] for row in rows if row["table"] != "end"})


def ended(rows):
    """Why, as the last row says."""
    return rows[-1]["values"].get("reason") if rows[-1]["table"] == "end" else None


def section(path, *keys):
    return "".join(f"{line}\n" for line in ("[sink:file]", f"path = {path}", "flush = 50ms", *keys))


def recordings(folder):
    return sorted(folder.glob("*.sonde"), key=lambda path: path.stat().st_mtime_ns)


def test_a_new_file_is_private(agent, config, tmp_path, wait_until, rows):
    path = tmp_path / "a.sonde"
    running = agent("agent", "-c", config(section(path)))
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    assert running.end() == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert any(row["table"] == "end" for row in rows(path))


def test_rotation_loses_nothing(agent, config, tmp_path, wait_until, rows):
    """Every file stands alone, and together they hold every instant once."""
    running = agent("agent", "-c", config(section(tmp_path / "%h-%Y%m%d.sonde", "rotate_size = 1KiB"), interval="2ms"))
    wait_until(lambda: len(recordings(tmp_path)) >= 4, timeout=30)
    assert running.end() == 0
    files = recordings(tmp_path)
    assert all(re.fullmatch(r"web1-\d{8}(-\d+)?\.sonde", path.name) for path in files)
    contents = [rows(path) for path in files]
    together = [number for each in contents for number in numbers(each)]
    assert together == list(range(1, len(together) + 1))
    assert [ended(each) for each in contents] == ["rotation"] * (len(files) - 1) + ["signal"]


@pytest.mark.parametrize("limit", [32, 64])
def test_few_descriptors(sonde, tmp_path, rows, limit):
    """Collectors keep open what leaves some to the sinks: all tables are recorded, in one file after the other."""
    def record(name, limit):
        path = tmp_path / name
        done = sonde("record", "-i", "20ms", "--max-frames", "5", "-o", path,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        assert done.returncode == 0, done.stderr
        return {row["table"] for row in rows(path)} - {"note", "gap"}

    assert record("few.sonde", limit) == record("enough.sonde", 1024)


def test_the_cap_holds_and_spares_what_is_not_ours(agent, config, tmp_path, wait_until, rows):
    cap = 32 * 1024
    strangers = {"web1-20200101.sonde.bak": b"x" * 9000, "web2-20200101.sonde": b"y" * 9000, "notes.txt": b"z"}
    for name, content in strangers.items():
        (tmp_path / name).write_bytes(content)
        os.utime(tmp_path / name, (0, 0))
    old = tmp_path / "web1-20200101.sonde"
    old.write_bytes(b"\x50\x2a\x4d\x18" + bytes(9000))
    os.utime(old, (0, 0))
    running = agent(
        "agent", "-c", config(section(tmp_path / "%h-%Y%m%d.sonde", f"disk_cap = {cap}"), interval="2ms")
    )

    def ours():
        total = 0
        for path in tmp_path.glob("web1-*.sonde"):
            try:
                total += path.stat().st_size
            except FileNotFoundError:  # deleted in between
                pass
        assert total <= cap
        return [path.name for path in tmp_path.glob("web1-*.sonde")]

    wait_until(lambda: any(re.search(r"-[6-9]\.sonde$", name) for name in ours()), timeout=60)
    assert running.end() == 0
    ours()
    assert not old.exists()
    for name, content in strangers.items():
        assert (tmp_path / name).read_bytes() == content
    kept = [number for path in sorted(tmp_path.glob("web1-*.sonde"), key=lambda p: p.stat().st_mtime_ns)
            for number in numbers(rows(path))]
    assert kept == list(range(kept[0], kept[-1] + 1))


@pytest.mark.parametrize("sink", ["[sink:file]", "[sink:stdout]\nformat = sonde"])
def test_logrotate(agent, config, tmp_path, wait_until, rows, sink):
    """Renamed, then SIGHUP: the old file is complete, the new one begins with a header of its own."""
    path, old = tmp_path / "a.sonde", tmp_path / "a.sonde.1"
    running = agent("agent", "-c", config(section(path).replace("[sink:file]", sink)))
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    path.rename(old)
    running.send(signal.SIGHUP)
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    assert running.end() == 0
    before, after = rows(old), rows(path)
    assert numbers(before) + numbers(after) == list(range(1, numbers(after)[-1] + 1))
    assert (ended(before), ended(after)) == ("rotation", "signal")


def test_a_start_never_touches_what_the_last_one_left(agent, config, tmp_path, wait_until, sonde, rows):
    """Case 143: behind a torn tail nothing would be found, so a new file is begun and the torn one moved aside."""
    path = tmp_path / "a.sonde"
    written = config(section(path))
    running = agent("agent", "-c", written)
    wait_until(lambda: path.exists() and path.stat().st_size > 2000)  # the first block, with the tables
    first = path.stat().st_size
    wait_until(lambda: path.stat().st_size > first + 100)
    running.send(signal.SIGKILL)
    running.wait()
    torn = path.read_bytes()[:-7] + bytes(4096)  # case 145: a power cut leaves zeros
    path.write_bytes(torn)
    running = agent("agent", "-c", written)
    wait_until(lambda: path.exists() and path.read_bytes()[:4] == torn[:4] and path.read_bytes() != torn)
    assert running.end() == 0
    aside = [each for each in recordings(tmp_path) if each != path]
    assert len(aside) == 1 and re.fullmatch(r"a-\d{8}-\d{6}\.sonde", aside[0].name)
    assert aside[0].read_bytes() == torn
    assert numbers(rows(path))[0] == 1
    done = sonde("cat", "--json", aside[0])
    assert done.returncode == 0 and done.stderr and '"sequence":1,' in done.stdout


def test_what_is_not_a_recording_is_left_alone(sonde, config, tmp_path):
    path = tmp_path / "passwords.txt"
    path.write_text("secret\n")
    done = sonde("agent", "-c", config(section(path)), timeout=20)
    assert done.returncode == 1
    assert f"path = {path}: something that is not a recording is there" in done.stderr
    assert path.read_text() == "secret\n"


@pytest.mark.parametrize(
    "keys, said",
    [
        (("path = /nowhere/a.sonde",), "its folder is not there"),
        (("path = /tmp/%q.sonde",), "%q"),
        (("path = /tmp/a.sonde", "group = nobody-has-this-name"), "there is no such group"),
        (("path = /tmp/a-%Y.sonde", "rotate_size = 2MiB", "disk_cap = 1MiB"), "rotate_size is larger than disk_cap"),
    ],
)
def test_mistakes_are_said_at_the_start(sonde, config, keys, said):
    done = sonde("agent", "-c", config("[sink:file]\n" + "".join(f"{key}\n" for key in keys)), timeout=20)
    assert done.returncode == 1 and said in done.stderr


def test_kill_loses_at_most_a_flush(agent, config, tmp_path, wait_until, sonde):
    """Of what a second sink saw before kill -9, all but the last flush interval is in the file."""
    path, seen = tmp_path / "a.sonde", tmp_path / "seen.json"
    running = agent(
        "agent", "-c", config(section(path, "flush = 200ms").replace("flush = 50ms\n", ""),
                              f"[sink:stdout]\npath = {seen}\nflush = 0s\n")
    )
    wait_until(lambda: seen.exists() and '"sequence":60,' in seen.read_text(), timeout=30)
    running.send(signal.SIGKILL)
    running.wait()
    done = sonde("cat", "--json", path)
    assert done.returncode == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    at = {row["sequence"]: row["boottime"] for row in map(json.loads, seen.read_text().splitlines()[:-1])}
    newest = max(at.values())
    must = {number for number, time in at.items() if newest - time > 400_000_000}
    assert must and must <= set(numbers(rows))


@pytest.fixture
def small_disk(tmp_path):
    """A folder, and what makes the prefix of a command that finds so many bytes of room there, in a mount namespace of its own."""
    folder = tmp_path / "small"
    folder.mkdir()
    unshare = shutil.which("unshare")
    tried = unshare and subprocess.run(
        [unshare, "-rm", "mount", "-t", "tmpfs", "-o", "size=256k", "none", folder], capture_output=True
    )
    if not tried or tried.returncode:
        pytest.skip("no mount namespaces here (unshare -rm)")

    def of(size):
        script = f'mount -t tmpfs -o size={size} none "$0" && exec "$@"'
        return [unshare, "-rm", "sh", "-c", script, folder]

    return of, folder


@pytest.mark.limit(60)
def test_a_full_disk(background, build, config, small_disk, tmp_path, wait_until, sonde):
    """Really full: said once, the file readable all along, the other sink complete, and written on when there is room."""
    of, folder = small_disk
    other = tmp_path / "other.json"
    written = config(section(folder / "a.sonde"), f"[sink:stdout]\npath = {other}\nflush = 0s\n", interval="5ms")
    running = background(*of("256k"), build / "sonde", "agent", "-c", written)
    inside = wait_until(lambda: (path if (path := f"/proc/{running.pid}/root{folder}") and
                                 os.path.exists(f"{path}/a.sonde") else None))
    ballast = f"{inside}/ballast"
    with open(ballast, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
    wait_until(lambda: "No space left on device" in running.stderr, timeout=30)

    shutil.copy(f"{inside}/a.sonde", tmp_path / "copy.sonde")
    done = sonde("cat", "--json", tmp_path / "copy.sonde")
    assert done.returncode == 0 and done.stdout
    full = max(json.loads(line)["sequence"] for line in done.stdout.splitlines())

    count = len(other.read_text().splitlines())
    wait_until(lambda: len(other.read_text().splitlines()) > count + 1000)
    assert running.stderr.count("No space left on device") == 1

    os.unlink(ballast)
    wait_until(lambda: "writing again" in running.stderr)
    size = os.path.getsize(f"{inside}/a.sonde")
    wait_until(lambda: os.path.getsize(f"{inside}/a.sonde") > size)
    shutil.copy(f"{inside}/a.sonde", tmp_path / "copy.sonde")
    assert running.end() == 0
    done = sonde("cat", "--json", tmp_path / "copy.sonde")
    assert done.returncode == 0
    assert max(json.loads(line)["sequence"] for line in done.stdout.splitlines()) > full
    seen = {json.loads(line)["sequence"] for line in other.read_text().splitlines()}
    assert seen == set(range(1, max(seen) + 1))


def test_a_full_disk_ends_a_command(sonde, build, small_disk, tmp_path):
    """Not waited for, as an agent does: one line, status 1, and what was written is a recording."""
    of, folder = small_disk
    captured, whole = tmp_path / "captured.sonde", tmp_path / "whole.sonde"
    sonde("record", "-q", "--capture", "-i", "10ms", "--max-frames", "300", "-o", captured, check=True)
    sonde("reparse", captured, "-o", whole, check=True)
    script = '"$0" reparse "$1" -o "$2/b.sonde"; status=$?; cp "$2/b.sonde" "$3"; exit $status'
    done = subprocess.run(
        [*of(whole.stat().st_size * 3 // 4), "sh", "-c", script, build / "sonde", captured, folder, tmp_path / "copy.sonde"],
        capture_output=True, text=True, timeout=30,
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert f"{folder}/b.sonde: write: No space left on device" in done.stderr
    copy = sonde("cat", "--json", tmp_path / "copy.sonde")
    assert copy.returncode == 0 and copy.stderr == "" and len(copy.stdout.splitlines()) > 10


def test_a_pipe_as_path(agent, config, tmp_path, sonde, wait_until):
    """A FIFO: waited for until somebody reads, then the stream from its beginning."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    running = agent("agent", "-c", config(section(path)))
    wait_until(lambda: "cannot be opened" in running.stderr)
    reader = os.open(path, os.O_RDONLY)
    got = b""
    while len(got) < 3000:
        got += os.read(reader, 65536)
    running.send(signal.SIGTERM)
    while chunk := os.read(reader, 65536):
        got += chunk
    os.close(reader)
    assert running.wait() == 0
    done = sonde("cat", "--json", "-", input=got, text=False)
    assert done.returncode == 0 and b'"reason":"signal"' in done.stdout
