"""Configurations as `sonde check` sees them: every mistake with file and line and the nearest valid name, in one pass."""

import re

import pytest

from compiling import ROOT

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
    """A typo never does nothing: all eight are told at once, in the order of the lines of each pass."""
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
    where = sorted(int(re.match(r"sonde check: a\.ini:(\d+): ", line).group(1)) for line in lines)
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
    status, lines = check("[stdout]\n[sink:loadavg]\n")
    assert status == 1
    assert "but a sink: [sink:stdout]" in lines[0]
    assert "but a collector: [loadavg]" in lines[1]


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


@pytest.mark.parametrize("path", sorted((ROOT / "conf").rglob("*.ini")), ids=lambda p: p.stem)
def test_what_is_shipped(sonde, path, tmp_path):
    """The sample and each profile have no mistakes; a profile is only collectors, `sonde record --profile` adds the rest."""
    config = tmp_path / "a.ini"
    sink = "" if path.stem == "sonde" else "[sink:stdout]\n"
    config.write_text(path.read_text() + "\n" + sink)
    result = sonde("check", "-c", config)
    assert (result.returncode, result.stderr) == (0, "")
