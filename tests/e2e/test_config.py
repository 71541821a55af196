"""Configurations as `sonde check` sees them: every mistake with file and line and the nearest valid name, in one pass."""

import os
import re
import socket
import subprocess

import pytest

from compiling import ROOT, environment, shared_object

GOOD = "[loadavg]\n[sink:stdout]\nformat = json\n"


@pytest.fixture
def check(sonde, tmp_path):
    """check(text) writes a.ini and returns (status, [lines of stderr without the folder])."""

    def run(text, **options):
        path = tmp_path / "a.ini"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        result = sonde("check", "-c", path, **options)
        return result.returncode, result.stderr.replace(str(tmp_path) + "/", "").splitlines()

    return run


def test_good(check):
    assert check(GOOD) == (0, [])


def test_every_mistake_in_one_pass(check):
    """A typo never does nothing: all eight are told at once, in the order of their lines."""
    status, lines = check(
        "[agent]\n"
        "intervall = 1s\n"          # 2: unknown key
        "[loadavg]\n"
        "interval = 1 parsec\n"     # 4: bad value
        "interval = 2s\n"           # 5: duplicate
        "[lodavg]\n"                # 6: unknown plugin
        "[snik:stdout]\n"           # 7: unknown kind
        "[sink:stdout]\n"
        "format = jsno\n"           # 9: bad choice
        "  indented = 1\n"          # 10
        "[psi]\n"
        "[psi]\n")                  # 12: repeated section
    assert status == 1
    where = [int(re.match(r"sonde check: a\.ini:(\d+): ", line).group(1)) for line in lines]
    assert where == [2, 4, 5, 6, 7, 9, 10, 12], lines
    text = "\n".join(lines)
    for near in ("interval", "loadavg", "sink", "json"):
        assert f"did you mean `{near}`?" in text


def test_long_line(check):
    """Case 168: no part of a line that is too long is read as a line of its own."""
    status, lines = check("[loadavg]\ninterval = 1s" + " " * 200 + "evil = 1\n[sink:stdout]\n")
    assert status == 1 and len(lines) == 1
    assert "a.ini:2: this line has" in lines[0] and "199 are possible" in lines[0]


def test_duplicate_key(check):
    """Case 171: values are never joined."""
    status, lines = check("[loadavg]\ninterval = 1s\ninterval =\n[sink:stdout]\n")
    assert status == 1 and len(lines) == 1
    assert "a.ini:3: `interval` stands in line 2 already" in lines[0]


def test_byte_order_mark(check):
    """Case 172: the first section is seen: its mistake is told."""
    assert check(b"\xef\xbb\xbf" + GOOD.encode()) == (0, [])
    status, lines = check(b"\xef\xbb\xbf[lodavg]\n[sink:stdout]\n")
    assert status == 1 and "a.ini:1: [lodavg]" in lines[0]


def test_nul_byte(check):
    status, lines = check(b"[loadavg]\ninterval = 1s\0\n[sink:stdout]\n")
    assert status == 1 and len(lines) == 1
    assert "a.ini:2: there is a control character" in lines[0]


def test_unknown_plugin(check):
    """Case 174, at a cold start: a sentence, no crash."""
    status, lines = check("[dummmy]\n[sink:stdout]\n")
    assert status == 1 and len(lines) == 1
    assert "a.ini:1: [dummmy]: there is no collector-dummmy.so in " in lines[0]


def test_wrong_kind(check):
    status, lines = check("[stdout]\n[sink:loadavg]\n[hugepages]\n")
    assert status == 1
    assert "but a sink: [sink:stdout]" in lines[0]
    assert "but a collector: [loadavg]" in lines[1]
    assert "but an analyzer: [analyzer:hugepages]" in lines[2]


def test_includes(check, tmp_path):
    """Case 175: included files are part of it, each mistake under its own name."""
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "b.ini").write_text("[psi]\nintervl = 1s\n")
    (tmp_path / "conf.d" / "a.ini").write_text("[meminfo]\n")
    status, lines = check("[agent]\ninclude = conf.d/*.ini\n" + GOOD)
    assert status == 1 and len(lines) == 1
    assert "conf.d/b.ini:2: [psi] has no key `intervl`; did you mean `interval`?" in lines[0]


def test_include_of_nothing(check):
    status, lines = check("[agent]\ninclude = gone.ini\n" + GOOD)
    assert status == 1 and "a.ini:2: include: there is no file " in lines[0]


@pytest.mark.limit(20)
def test_include_of_what_is_no_file(check, tmp_path):
    """Nobody writes into the FIFO: it is not waited for."""
    os.mkfifo(tmp_path / "a.conf")
    (tmp_path / "b.conf").symlink_to("/dev/zero")
    status, lines = check("[agent]\ninclude = *.conf\n" + GOOD)
    assert status == 1
    assert [line.split(": is ")[0][-6:] for line in lines] == ["a.conf", "b.conf"], lines
    assert all("no regular file" in line for line in lines)


def test_variables(check):
    text = "[agent]\nhost = ${SONDE_TEST_NAME}\n" + GOOD
    status, lines = check(text, env={"PATH": "/usr/bin:/bin"})
    assert status == 1 and "a.ini:2: host: the variable SONDE_TEST_NAME is not set" in lines[0]
    assert check(text, env={"SONDE_TEST_NAME": "web1"}) == (0, [])
    assert check(text.replace("NAME}", "NAME:-web1}"), env={}) == (0, [])


def test_missing_file(sonde, tmp_path):
    result = sonde("check", "-c", tmp_path / "gone.ini")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1 and "can't be read: No such file or directory" in result.stderr


def test_filter_words(check):
    """The keys of a sink's filter are checked before anything runs."""
    status, lines = check("[loadavg]\n[sink:stdout]\nkinds = findigs\n")
    assert status == 1 and len(lines) == 1
    assert "did you mean `findings`?" in lines[0]
    status, lines = check("[loadavg]\n[sink:stdout]\nvalues = rates\n")
    assert status == 1 and len(lines) == 1
    assert "\"rates\" is none of raw|rate; did you mean `rate`?" in lines[0]


def test_mistakes_of_every_kind_in_one_pass(check, tmp_path):
    """Syntax, keys, values, tags, filters, what a plugin itself refuses, and what only a start tells: each in its line."""
    status, lines = check(
        "[agent]\n"
        "tags = env prod\n"                  # 2: not a tag
        "root = relative\n"                  # 3
        "no equals sign\n"                   # 4: syntax
        "[loadavg]\n"
        "intervall = 1s\n"                   # 6: unknown key
        "isolation = proces\n"               # 7: besides the unknown key
        "[process]\n"
        "isolation = process\n"
        "pidz = 1\n"                         # 10: a key that only its worker knows
        "deadline = soon\n"                  # 11: one of the host's in the same section
        "[sink:file]\n"
        "group = no-such-group\n"            # 13: what only the plugin can tell
        "[sink:stdout]\n"
        "tags = dc\n"                        # 15
        "kinds = findigs\n"                  # 16
        "[sink:udp]\n"
        "address = nowhere\n")               # 18
    assert status == 1
    where = [int(re.match(r"sonde check: a\.ini:(\d+): ", line).group(1)) for line in lines]
    assert where == [2, 3, 4, 6, 7, 10, 11, 13, 15, 16, 18], lines
    for near in ("interval", "pids", "findings"):
        assert f"did you mean `{near}`?" in "\n".join(lines)


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_what_a_plugin_refuses_beside_a_wrong_value(check, isolation):
    """The plugin looks at its section even where a value in it was wrong already."""
    status, lines = check(
        "[process]\n"
        f"isolation = {isolation}\n"
        "pids = abc\n"                       # 3: only the plugin knows
        "max = 99999999999\n"                # 4: out of its range
        "[sink:file]\n"
        "path = /nonexistent/x.sonde\n"      # 6: likewise
        "compression = foo\n")               # 7
    assert status == 1
    assert [int(re.match(r"sonde check: a\.ini:(\d+): ", line).group(1)) for line in lines] == [3, 4, 6, 7], lines
    assert "pids = abc: not a process id" in lines[0] and "its folder is not there" in lines[2]


@pytest.mark.parametrize("text, says", [
    ("[psi\n", "a.ini:1: the ] is missing"),
    ("[PSI]\n", "a.ini:1: [PSI]: there is no collector `PSI`; did you mean `psi`?"),
    ("[agent]\nlog = debg\n", 'a.ini:2: log: "debg" is none of error|warning|notice|debug; did you mean `debug`?'),
    ("[agent]\ninterval = 10us\n", 'a.ini:2: interval: "10us" is not within 1ms and 1d'),
    ("[cpu]\ninterval = 10us\n", 'a.ini:2: interval: "10us" is not within 1ms and 1d'),
    ("[sink:file a]\npath = x.sonde\n[sink:file b]\npath = x.sonde\n",
     "a.ini:4: [sink:file b]: path = x.sonde: [sink:file a] writes there already; give each its own"),
])
def test_one_mistake(check, tmp_path, text, says):
    """It is the one line that is said."""
    status, lines = check(text + GOOD, cwd=tmp_path)
    assert status == 1 and len(lines) == 1, lines
    assert lines[0].startswith("sonde check: " + says)


@pytest.mark.parametrize("section, line, says", [
    ("[sink:file]\npath = /nowhere/a.sonde", 3, "its folder is not there"),
    ("[sink:file]\npath = {tmp}/a.sonde\ngroup = no-such-group", 4, "there is no such group"),
    ("[sink:stdout]\npath = /nowhere/a.json", 3, "No such file"),
    ("[sink:stdout]\npath = {tmp}", 3, "Is a directory"),
    ("[sink:stdout]\npath = {tmp}/r.sonde", 3, "it is a recording"),
    ("[sink:report]\ntext = {tmp}/r.sonde", 3, "it is a recording"),
    ("[sink:report]\njson = /nowhere/report", 3, "No such file"),
    ("[sink:stdout]\n[source:udp]\nlisten = 192.0.2.1:8125", 4, "Cannot assign requested address"),
    ("[sink:stdout]\n[source:udp]\nallow = 1.2.3", 4, "it is no address"),
    ("[sink:stdout]\n[source:udp]\ninterface = nosuch0", 4, "there is none"),
])
def test_what_a_start_would_refuse(check, sonde, tmp_path, section, line, says):
    """The agent refuses the same, and nothing was made or emptied meanwhile."""
    (tmp_path / "r.sonde").write_bytes(b"\x04\x22\x4d\x18 the beginning of an LZ4 frame")
    text = "[loadavg]\n" + section.format(tmp=tmp_path) + "\n"
    status, lines = check(text)
    assert status == 1 and len(lines) == 1, lines
    assert lines[0].startswith(f"sonde check: a.ini:{line}: ") and says in lines[0]
    agent = sonde("agent", "-c", tmp_path / "a.ini", "--max-frames", "1")
    assert agent.returncode == 1 and says in agent.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ini", "r.sonde"]
    assert (tmp_path / "r.sonde").stat().st_size > 20


def test_check_changes_nothing(check, tmp_path):
    """A file that would be emptied, one that would be made, an address that is in use: none of them is touched, none a mistake."""
    taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    taken.bind(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    (tmp_path / "kept").write_text("a line\n")
    status, lines = check(f"[loadavg]\n[sink:stdout]\npath = {tmp_path}/kept\nreplace = yes\n"
                          f"[sink:file]\npath = {tmp_path}/new.sonde\n[source:udp]\nlisten = 127.0.0.1:{port}\n")
    assert status == 0
    assert len(lines) == 1 and "in use, by an agent that runs?" in lines[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ini", "kept"]
    assert (tmp_path / "kept").read_text() == "a line\n"
    taken.close()


def test_a_collector_that_is_not_there(check, tmp_path):
    """What a collector's start() finds out is told by check, as by the agent; where it is optional it is none."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/loadavg").write_text("0.50 1.25 2.75 3/456 7890\n")
    for isolation in ("none", "process"):
        text = f"[agent]\nroot = {tmp_path}\n[loadavg]\n[psi]\nisolation = {isolation}\n%s[sink:stdout]\n"
        status, lines = check(text % "")
        assert status == 1 and len(lines) == 1
        assert "a.ini:4: [psi]: " in lines[0] and "with `optional = yes` this is a note" in lines[0]
        assert check(text % "optional = yes\n") == (0, [])
    status, lines = check(f"[agent]\nroot = {tmp_path}\n[psi]\noptional = yes\n[sink:stdout]\n")
    assert status == 1 and "there is nothing to read" in lines[0]


def test_a_plugin_that_crashes_when_it_starts(check, tmp_path):
    shared_object(ROOT / "tests/crash/crash_start.c", tmp_path)
    status, lines = check("[loadavg]\n[crash_start]\n[meminfo]\n[sink:stdout]\n", env=environment(tmp_path))
    assert status == 1 and len(lines) == 1
    assert re.search(r"a\.ini: \[crash_start\]: it crashed while it was tried \((Segmentation fault|Aborted)\)", lines[0])


def test_patterns_that_match_nothing(check):
    """A sink that would get nothing by a typo: each pattern in its line, with the nearest name."""
    status, lines = check("[loadavg]\n[meminfo]\n[sink:stdout]\ntables = loadavg, memifno\ntables = !mem*\n"
                          "columns = load1, meminfo.mem_totla\n")
    assert status == 1
    assert [line.split(": ", 1)[1] for line in lines] == [
        "a.ini:4: [sink:stdout]: tables: nothing that is collected here is named `memifno`; did you mean `meminfo`?",
        "a.ini:6: [sink:stdout]: columns: nothing that is collected here is named `meminfo.mem_totla`; "
        "did you mean `meminfo.mem_total`?"]
    assert check("[loadavg]\n[sink:stdout]\ntables = load*\ncolumns = *1\n") == (0, [])


def test_patterns_of_what_this_machine_lacks(check, tmp_path):
    """Where an optional collector is not there, what would match it is a warning; what a source brings is not known."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/loadavg").write_text("0.50 1.25 2.75 3/456 7890\n")
    status, lines = check(f"[agent]\nroot = {tmp_path}\n[loadavg]\n[psi]\noptional = yes\n[sink:stdout]\ntables = psi\n")
    assert status == 0
    assert len(lines) == 1 and "warning: [sink:stdout]: tables: nothing" in lines[0]
    assert check("[source:udp]\nlisten = 127.0.0.1:0\n[sink:stdout]\ntables = psi\n") == (0, [])


def test_what_check_says_is_written(build, tmp_path):
    """From its process of its own too."""
    (tmp_path / "a.ini").write_text(GOOD)
    with open("/dev/full", "w") as full:
        done = subprocess.run([build / "sonde", "check", "-c", tmp_path / "a.ini"], stdout=full, stderr=subprocess.PIPE, timeout=30)
    assert done.returncode == 1 and b"No space left on device" in done.stderr


def test_plugin_path_that_is_not_there(check, tmp_path):
    status, lines = check(f"[agent]\nplugin_path = {tmp_path}:{tmp_path}/gone\n" + GOOD)
    assert status == 0
    assert len(lines) == 1
    assert lines[0].endswith("a.ini:2: plugin_path: gone: No such file or directory")
    assert "warning" in lines[0]


@pytest.mark.parametrize("path", sorted((ROOT / "conf").rglob("*.ini")), ids=lambda p: p.stem)
def test_what_is_shipped(sonde, path, tmp_path):
    """The sample and each profile have no mistakes; a profile is only collectors, `sonde record --profile` adds the rest."""
    config = tmp_path / "a.ini"
    sink = "" if path.stem == "sonde" else "[sink:stdout]\n"
    config.write_text(path.read_text() + "\n" + sink)
    result = sonde("check", "-c", config, env={**os.environ, "STATE_DIRECTORY": str(tmp_path)})
    assert (result.returncode, result.stderr) == (0, "")


def test_samples_run_as_they_stand(sonde, root, tmp_path):
    """conf/sonde.ini, and the agent's configuration in the README: no folder to make first, no other host."""
    example = re.search(r"An agent's configuration:\n\n((?:    .*\n|\n)+)", (root / "README.md").read_text()).group(1)
    (tmp_path / "readme.ini").write_text(re.sub(r"^    ", "", example, flags=re.M))
    by_hand = {key: value for key, value in os.environ.items() if key != "STATE_DIRECTORY"}
    for path in (root / "conf/sonde.ini", tmp_path / "readme.ini"):
        done = sonde("check", "-c", path, cwd=tmp_path, env=by_hand)
        assert (done.returncode, done.stderr) == (0, ""), path
    assert sonde("agent", "-c", "readme.ini", "--max-frames", "2", cwd=tmp_path, env=by_hand).returncode == 0
    assert len(list(tmp_path.glob("*.sonde"))) == 1
