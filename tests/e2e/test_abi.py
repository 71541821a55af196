"""Plugins of older and newer headers on this host, and plugins whose names and libraries are those of others.

The older header is this one with the last service, the last field of an option and the last of a column taken away; the
newer has one of each appended. So this host is the newer one to the first plugin and the older one to the second.
"""

import json
import re
import shutil
import subprocess

import pytest

from compiling import CC, INCLUDE, ROOT, environment, shared_object

ABI = ROOT / "tests" / "abi"


def changed_headers(folder, edits):
    """A copy of the public headers; edits: (file, pattern, replacement), each of which must fit once."""
    target = folder / "include"
    shutil.copytree(INCLUDE, target)
    for name, pattern, replacement in edits:
        path = target / "sonde" / name
        text, count = re.subn(pattern, replacement, path.read_text(), flags=re.S)
        assert count == 1, (name, pattern, count)
        path.write_text(text)
    return target


def struct_end(name):
    """The end of a struct's definition, captured."""
    return rf"(struct {name} \{{\n(?:(?!\n\}};).)*)(\n\}};)"


OLDER = [
    ("host.h", r"\n\tconst struct sonde_analysis \*analysis;\n.*?(?=\n\};\n\n#define SONDE_PRINTF)", ""),
    ("analysis.h", r"/\* The series of one declared stream.*(?=#endif)", ""),
    ("table.h", r"\n\tuint32_t slots; [^\n]*\n\tuint32_t reserved;(?=\n\};\n\nenum sonde_table_flags)", ""),
    ("plugin.h", r"\n\tconst char \*help;(?=\n\};\n\n/\* What a sink asserts)", ""),
    ("plugin.h", r"offsetof\(struct sonde_host, analysis\) \+ sizeof\(void \*\)", "sizeof(struct sonde_host)"),
]
NEWER = [
    ("host.h", struct_end("sonde_host"), r"\1\n\tint (*newest)(struct sonde_instance *self, int32_t number);\2"),
    ("table.h", struct_end("sonde_column"), r"\1\n\tconst char *newest;\n\tdouble limit;\2"),
    ("plugin.h", struct_end("sonde_option"), r"\1\n\tconst char *newest[3];\2"),
    ("plugin.h", struct_end("sonde_plugin"), r"\1\n\tuint64_t newest[4];\2"),
    ("plugin.h", struct_end("sonde_collector_ops"), r"\1\n\tint (*newest)(struct sonde_instance *self);\2"),
]


@pytest.fixture
def rows(agent, tmp_path, wait_until):
    """rows(folder, text) runs an agent until each of its sections has given a row; returns {table: [row, ...]}."""

    def run(folder, text, tables):
        config = tmp_path / "agent.ini"
        config.write_text("[agent]\ninterval = 20ms\n" + text + "[sink:stdout]\nformat = json\nflush = 0s\n")
        running = agent("agent", "-c", config, env=environment(folder))

        def found():
            lines = running.stdout.splitlines(keepends=True)
            parsed = [json.loads(line) for line in lines if line.endswith("\n")]
            got = {}
            for row in parsed[:-1]:
                if row["sequence"] < parsed[-1]["sequence"]:  # whole instants only
                    got.setdefault(row["table"], []).append(row)
            assert running.running(), running.stderr
            return all(table in got for table in tables) and got

        got = wait_until(found)
        assert running.end() == 0, running.stderr
        return got

    return run


GROWS = "[grows]\nfirst = 41\nwords = alpha\nwords = beta\n"


def check_grows(got):
    first = {row["keys"]["word"]: row["values"]["value"] for row in got["grows"]}
    assert first == {"alpha": 41, "beta": 42}


def sizes(folder, include):
    """Sizes of the structs that grow."""
    source = folder / "sizes.c"
    source.write_text('#include <stdio.h>\n#include <sonde/plugin.h>\nint main(void) { printf("%zu %zu %zu\\n", '
                      'sizeof(struct sonde_host), sizeof(struct sonde_option), sizeof(struct sonde_column)); }\n')
    program = folder / "sizes"
    subprocess.run([*CC, f"-I{include}", "-o", str(program), str(source)], check=True)
    return [int(n) for n in subprocess.run([str(program)], capture_output=True, check=True).stdout.split()]


def test_the_headers_differ(tmp_path):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    old = sizes(tmp_path, changed_headers(tmp_path / "old", OLDER))
    new = sizes(tmp_path, changed_headers(tmp_path / "new", NEWER))
    now = sizes(tmp_path, INCLUDE)
    assert all(a < b < c for a, b, c in zip(old, now, new)), (old, now, new)


def test_this_header(tmp_path, rows):
    shared_object(ABI / "grows.c", tmp_path / "plugins")
    check_grows(rows(tmp_path / "plugins", GROWS, ["grows"]))


def test_older_plugin(tmp_path, rows):
    include = changed_headers(tmp_path, OLDER)
    shared_object(ABI / "grows.c", tmp_path / "plugins", include=include)
    check_grows(rows(tmp_path / "plugins", GROWS, ["grows"]))


def test_newer_plugin(tmp_path, rows):
    """It does not use the new service: a mere rebuild loads on an older host."""
    include = changed_headers(tmp_path, NEWER)
    shared_object(ABI / "grows.c", tmp_path / "plugins", include=include)
    check_grows(rows(tmp_path / "plugins", GROWS, ["grows"]))


def test_newer_plugin_that_needs_the_service(tmp_path, sonde):
    include = changed_headers(tmp_path, NEWER + [
        ("plugin.h", r"offsetof\(struct sonde_host, analysis\) \+ sizeof\(void \*\)",
         "offsetof(struct sonde_host, newest) + sizeof(void *)")])
    shared_object(ABI / "grows.c", tmp_path / "plugins", include=include)
    config = tmp_path / "a.ini"
    config.write_text(GROWS + "[sink:stdout]\n")
    result = sonde("check", "-c", config, env=environment(tmp_path / "plugins"))
    assert result.returncode == 1
    assert re.search(r"collector-grows\.so: it needs \d+ bytes of host services and this sonde has \d+; update sonde",
                     result.stderr)


def test_frozen_bytes(tmp_path):
    """magic, ABI major, minor: where they are now, they stay (first eight bytes, and of the note's body)."""
    path = shared_object(ABI / "grows.c", tmp_path / "plugins")
    symbols = subprocess.run(["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True, check=True).stdout
    assert symbols.split()[1:] == ["D", "sonde_plugin"] or symbols.split()[1:] == ["R", "sonde_plugin"]
    note = subprocess.run(["objcopy", "-O", "binary", "--only-section=.note.sonde", str(path), "/dev/stdout"],
                          capture_output=True, check=True).stdout
    assert note[20:28] == b"snde" + (1).to_bytes(2, "little") + (0).to_bytes(2, "little")


def test_same_inner_names(tmp_path, rows):
    """Cases 178 and 179: each calls its own functions, not those of the other, of the host or of a library."""
    for name in ("same_one", "same_two"):
        shared_object(ABI / f"{name}.c", tmp_path / "plugins")
    got = rows(tmp_path / "plugins", "[same_one]\n[same_two]\n", ["same_one", "same_two"])
    assert got["same_one"][0]["values"] == {"value": 11, "text": "one"}
    assert got["same_two"][0]["values"] == {"value": 22, "text": "two"}


def test_an_lz4_of_its_own(tmp_path, rows, sonde):
    """One plugin against a stub liblz4.so.9, one with a static copy, and the host with its own: the recording is readable."""
    stub = tmp_path / "liblz4.so.9"
    subprocess.run([*CC, "-shared", "-fPIC", "-DLZ4_STUB=90000", "-Wl,-soname,liblz4.so.9", "-o", str(stub),
                    str(ABI / "lz4_stub.c")], check=True)
    copy = tmp_path / "lz4_copy.o"
    subprocess.run([*CC, "-c", "-fPIC", "-DLZ4_STUB=77", "-o", str(copy), str(ABI / "lz4_stub.c")], check=True)
    for name, extra in (("lz4_shared", [str(stub), f"-Wl,-rpath,{tmp_path}"]), ("lz4_static", [str(copy)])):
        source = tmp_path / f"{name}.c"
        source.write_text((ABI / "lz4_user.c").read_text())
        shared_object(source, tmp_path / "plugins", f"-DLZ4_NAME={name}", *extra)
    recording = tmp_path / "x.sonde"
    got = rows(tmp_path / "plugins", f"[lz4_shared]\n[lz4_static]\n[sink:file]\npath = {recording}\nflush = 0s\n",
               ["lz4_shared", "lz4_static"])
    assert got["lz4_shared"][0]["values"] == {"version": 90000}
    assert got["lz4_static"][0]["values"] == {"version": 77}
    read = sonde("cat", "--json", recording)
    assert read.returncode == 0, read.stderr
    rows_read = [json.loads(line) for line in read.stdout.splitlines()]
    assert {"version": 90000} in [row["values"] for row in rows_read if row["table"] == "lz4_shared"]
