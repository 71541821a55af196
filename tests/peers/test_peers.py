"""Readers where there is no Linux: built of POSIX alone, and for Windows, run by wine. What each says of a recording is, byte by byte,
what sonde here says of it; run by `make check-peers`.

SONDE_BUILD names the build folder, SONDE_WINE the program that runs those of Windows.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SONDE_BUILD", ROOT / "build"))
SECONDS = 300


@pytest.fixture(scope="module")
def sonde():
    """This machine's own."""
    return lambda *args, **options: run([BUILD / "sonde"], args, options)


def run(command, args, options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([*map(str, command), *map(str, args)], capture_output=True, timeout=SECONDS, **options)


@pytest.fixture(scope="module", params=["reader", "windows"])
def peer(request, tmp_path_factory):
    """The same of a build that only reads."""
    if request.param == "reader":
        yield lambda *args, **options: run([BUILD / "reader/sonde"], args, options)
        return
    wine = os.environ.get("SONDE_WINE")
    assert wine, "SONDE_WINE names the program that runs those of Windows"
    home = tmp_path_factory.mktemp("wine")
    environment = {**os.environ, "WINEPREFIX": str(home), "WINEDEBUG": "-all", "HOME": str(home), "DISPLAY": ""}
    with booted(wine, environment):
        yield lambda *args, **options: run([wine, BUILD / "windows/sonde.exe"], args, {"env": environment, **options})
    shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def booted(wine, environment):
    """One Windows for all runs. Else each boots its own, which takes seconds, and what its services say on their way down is on the
    stderr of the run."""
    beside = [path for path in (Path(wine).resolve().with_name(name) for name in ("wineserver64", "wineserver")) if path.exists()]
    server = beside[0] if beside else shutil.which("wineserver")
    assert server, f"no wineserver beside {wine}"
    # It stays, with all that it inherits.
    subprocess.run([server, "-p"], env=environment, check=True, timeout=SECONDS, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    try:
        # Makes its folders and starts its services.
        subprocess.run([wine, BUILD / "windows/sonde.exe", "help"], env=environment, check=True, timeout=SECONDS,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        yield
    finally:
        subprocess.run([server, "-k"], env=environment, timeout=SECONDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("peers")


@pytest.fixture(scope="module")
def recordings(sonde, folder):
    """Of the first version, of machines that are not there, of a command here."""
    made = [ROOT / "tests/data/v1.sonde"]
    for scenario in ("cpu_saturated", "numa_misplaced"):
        made.append(folder / f"{scenario}.sonde")
        assert sonde("demo", scenario, "-o", made[-1]).returncode == 0
    made.append(folder / "command.sonde")
    done = sonde("profile", "-q", "-i", "50ms", "-o", made[-1], "--", "sh", "-c", "sleep 0.2 & sh -c 'exit 3'; wait")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def damaged(recordings, folder):
    """What may be in a file: cut, with bytes that flipped, with something else in front of it, something else altogether."""
    whole = recordings[1].read_bytes()
    middle = bytearray(whole)
    for at in range(len(whole) // 3, len(whole) // 3 + 64, 7):
        middle[at] ^= 0x5A
    texts = {"empty": b"", "cut": whole[: len(whole) * 2 // 3], "flipped": bytes(middle), "twice": whole + whole,
             "other": b"\x7fELF" + bytes(500), "text": b"no recording\n" * 50, "zeros": whole[: len(whole) // 2] + bytes(4096)}
    for name, content in texts.items():
        (folder / f"{name}.sonde").write_bytes(content)
    return [folder / f"{name}.sonde" for name in texts]


VERBS = [("report",), ("report", "--json"), ("summary", "--json"), ("tree",), ("cat",), ("cat", "--json"), ("cat", "--csv"),
         ("export", "--fixture")]


def lines(text):
    """Names of files in messages are as each system has them."""
    return [re.sub(rb"^(sonde \w+: ).*?([\w.]+\.sonde)", rb"\1\2", line) for line in text.replace(b"\r", b"").splitlines()]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_of_the_same_recording_the_same_bytes(sonde, peer, recordings, verb):
    for path in recordings:
        here, there = sonde(*verb, path), peer(*verb, path)
        assert (there.returncode, there.stderr) == (0, b""), path
        assert there.stdout == here.stdout and len(here.stdout) > 50, path


def test_of_damage_the_same(sonde, peer, damaged):
    for path in damaged:
        for verb in (("report",), ("cat", "--json")):
            here, there = sonde(*verb, path), peer(*verb, path)
            assert there.returncode == here.returncode and lines(there.stderr) == lines(here.stderr), path
            assert there.stdout == here.stdout, path


def test_a_fixture_is_the_same_recording(sonde, peer, folder, request):
    page = (ROOT / "sinks/fixture/fixture.md").read_text()
    fixture = folder / "fixture.json"
    fixture.write_text(re.search(r"```json\n(.*?)```", page, re.S).group(1))
    here = sonde("replay", "-o", "-", fixture)
    there = peer("replay", "-o", "-", fixture)
    assert (there.returncode, there.stderr) == (0, b"") and there.stdout == here.stdout and here.stdout
    path = folder / f"{request.node.callspec.id}.sonde"
    assert peer("replay", "-o", path, fixture).returncode == 0
    assert path.read_bytes() == here.stdout


def test_a_comparison_is_the_same(sonde, peer, recordings):
    sides = recordings[1], recordings[2]
    here, there = sonde("compare", "--json", *sides), peer("compare", "--json", *sides)
    assert there.returncode == here.returncode == 0, there.stderr
    here, there = json.loads(here.stdout), json.loads(there.stdout)
    assert there["deltas"] == here["deltas"] and len(here["deltas"]) > 20


def test_an_import_is_the_same(sonde, peer, folder, request):
    counts = folder / "counts.csv"
    counts.write_text("1.000;123456;;cycles;1000000000;100.00;;\n1.000;23456;;instructions;1000000000;100.00;;\n")
    out = [folder / f"{request.node.callspec.id}-{name}.sonde" for name in ("here", "there")]
    for one, path in zip((sonde, peer), out):
        done = one("import", "perf-stat", counts, "-o", path)
        assert (done.returncode, done.stderr) == (0, b"")
    reports = [sonde("cat", "--json", path).stdout for path in out]
    assert reports[0] == reports[1] and b"cycles" in reports[0]


def test_what_is_not_there_is_said(peer):
    done = peer("record", "-d", "1")
    assert done.returncode == 2 and b'this build only reads recordings: it has no "record"' in done.stderr
    assert b"\n  record " not in peer("help").stdout
