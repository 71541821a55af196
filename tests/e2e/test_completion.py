"""contrib/completions/sonde in a real bash: what TAB offers."""

import subprocess

import pytest


@pytest.fixture(scope="module")
def offered(root, build, tmp_path_factory):
    """offered("record", "--profile", "") is the set of words that bash is given for the last one; two files lie around."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "slow.sonde").touch()
    (folder / "sonde.ini").touch()

    def complete(*words):
        script = 'source "$1"; shift; COMP_WORDS=(sonde "$@"); COMP_CWORD=$#; _sonde && printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", root / "contrib/completions/sonde", *words],
                              cwd=folder, env={"PATH": f"{build}:/usr/bin:/bin"}, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        return {word for word in done.stdout.splitlines() if word}

    return complete


FILES = {"slow.sonde", "sonde.ini"}


def test_it_is_for_sonde(root):
    done = subprocess.run(["bash", "--norc", "-c", 'source "$1" && complete -p sonde', "bash", root / "contrib/completions/sonde"],
                          capture_output=True, text=True, timeout=60)
    assert done.stdout == "complete -o filenames -F _sonde sonde\n"


def test_verbs(offered, sonde):
    verbs = offered("")
    assert {"record", "report", "ab", "help"} <= verbs and "sonde" not in verbs
    assert all(sonde("help", verb).returncode == 0 for verb in verbs)
    assert offered("help", "") == verbs
    assert offered("re") == {"record", "report", "receive", "reparse", "replay"}


def test_options_where_one_begins_alone(offered):
    assert offered("report", "--") >= {"--since", "--fail-on", "--json"}
    assert offered("report", "--fail") == {"--fail-on"}
    assert offered("report", "") == FILES
    assert offered("report", "--json", "") == FILES


@pytest.mark.parametrize("words, expected", [
    (("record", "--profile", ""), {"quiet", "sched", "numa", "memory", "cache", "ci"}),
    (("report", "--fail-on", ""), {"info", "warning", "critical"}),
    (("agent", "-c", ""), FILES),
    (("check", "--config", "so"), {"sonde.ini"}),
    (("record", "-o", ""), FILES),
    (("record", "-d", ""), set()),
    (("record", "--duration", ""), set()),
    (("record", "--", ""), FILES),
    (("cat", "-t", "ps"), {"psi"}),
    (("cat", "--ra"), {"--rate"}),
    (("cat", "--table", "meminf"), {"meminfo"}),
    (("inspect", ""), set()),
], ids=" ".join)
def test_what_an_option_takes(offered, words, expected):
    assert offered(*words) == expected


def test_names(offered, root):
    assert offered("plugins", "") == {path.name for kind in ("plugins", "analyzers", "sinks")
                                      for path in (root / kind).glob("*") if path.is_dir()} | {"self"}
    assert "numa_misplaced" in offered("demo", "")
    assert {"psi", "vmstat", "cpu.saturation"} <= offered("explain", "")
    assert not FILES & offered("explain", "")
    assert offered("explain", "psi.some") == {"psi.some_total", "psi.some_avg10", "psi.some_avg60", "psi.some_avg300"}
    assert offered("explain", "cpu.satur") == {"cpu.saturation"}
