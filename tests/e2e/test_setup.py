"""Set-up and installing: what tools/deps says where a package is missing, what make leaves out, where install puts things."""

import os
import re
import shutil
import subprocess

import pytest

# What tools/deps needs to run; a PATH with these alone has neither apt nor a compiler.
TOOLS = ["sh", "sed", "grep", "cut", "sort", "tr", "mkdir", "rm", "id", "cat", "dirname"]


@pytest.fixture
def bare_path(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool))
    return str(folder)


def test_without_apt_the_names_for_other_package_managers_are_printed(root, tmp_path, bare_path):
    result = subprocess.run(
        ["tools/deps", str(tmp_path / "deps"), "build"], cwd=root, capture_output=True, text=True, timeout=60,
        env={"PATH": bare_path, "CC": "no-such-compiler"})
    assert result.returncode == 1
    assert result.stdout == ""
    names = dict(line.split(": ", 1) for line in result.stderr.splitlines() if not line.startswith("sonde:"))
    # As in each distribution's own package search.
    assert "libinih-dev" in names["apt"] and "liblz4-dev" in names["apt"]
    assert "libmsgpack-dev" in names["apt"] and "libmsgpack-c-dev" in names["apt"]  # Debian 12's and 13's
    assert "inih-devel" in names["dnf"] and "lz4-devel" in names["dnf"]
    assert "inih-dev" in names["apk"] and "msgpack-c-dev" in names["apk"]
    assert "libinih" in names["pacman"] and "msgpack-c" in names["pacman"]
    assert "inih-devel" in names["zypper"]
    assert "install them, then run make again" in result.stderr


def test_what_is_there_is_found_and_nothing_is_installed(root, tmp_path):
    result = subprocess.run(["tools/deps", str(tmp_path / "deps"), "build"], cwd=root, capture_output=True, text=True,
                            timeout=60, env=dict(os.environ))
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "-llz4" not in result.stdout and "-linih" in result.stdout and "-lmsgpack" in result.stdout


def small_tree(root, folder):
    """The makefile and two plugin folders, one of which needs a library that nobody has."""
    shutil.copy(root / "GNUmakefile", folder)
    shutil.copytree(root / "tools", folder / "tools")
    for name in ("plain", "foreign"):
        (folder / "plugins" / name).mkdir(parents=True)
        (folder / "plugins" / name / f"{name}.c").write_text("/* Nothing. */\n")
    (folder / "plugins/foreign/foreign.pc").write_text("no-such-module >= 1.2\n")


def test_a_plugin_whose_library_is_missing_is_left_out_and_named(root, tmp_path):
    small_tree(root, tmp_path)
    result = subprocess.run(["make", "-n", "all"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                            env={key: value for key, value in os.environ.items() if not key.startswith("MAKE")})
    assert result.returncode == 0, result.stderr
    assert "left out" in result.stdout and "collector-foreign" in result.stdout.split("left out")[1]
    assert "no-such-module" in result.stdout
    assert "plugins/collector-plain.so" in result.stdout
    assert "plugins/collector-foreign.so" not in result.stdout


def test_other_flags_build_again_and_the_same_do_not(root, tmp_path):
    small_tree(root, tmp_path)
    (tmp_path / "framework/include/sonde").mkdir(parents=True)
    shutil.copy(root / "framework/include/sonde/plugin.map", tmp_path / "framework/include/sonde")

    def make(*words):
        command = ["make", *words, "build/plugins/collector-plain.so"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60,
                              env={k: os.environ[k] for k in ("PATH", "HOME") if k in os.environ})

    assert "plain.c" in make().stdout
    assert make("-q").returncode == 0
    assert "plain.c" not in make().stdout
    assert "plain.c" in make("CFLAGS=-O1").stdout


def test_an_installed_sonde_is_complete_and_finds_its_own_plugins(root, build, tmp_path):
    """make install under DESTDIR; the program there takes the plugins beside it."""
    if "-fsanitize" in (build / "flags").read_text():
        pytest.skip("one build is installed, the plain one")
    subprocess.run(["make", f"B={build}", "install", f"DESTDIR={tmp_path}"], cwd=root, check=True, timeout=110,
                   capture_output=True, env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")})
    usr = tmp_path / "usr/local"
    installed = {path.relative_to(usr).as_posix() for path in usr.rglob("*") if path.is_file()}
    assert {"bin/sonde", "lib/sonde/plugins/collector-psi.so", "include/sonde/plugin.h", "share/man/man1/sonde.1",
            "share/sonde/profiles/quiet.ini", "etc/sonde/sonde.ini", "share/bash-completion/completions/sonde",
            "lib/systemd/system/sonde.service", "share/doc/sonde/LICENSE", "lib/pkgconfig/sonde.pc"} <= installed
    assert {path.name for path in (usr / "lib/sonde/plugins").iterdir()} == {
        path.name for path in (build / "plugins").glob("*.so")}
    # `make web` is asked for on its own; what it built is taken along.
    assert {page.name for page in usr.glob("share/sonde/web/*")} == {page.name for page in (build / "web").glob("*.html")}
    unit = (usr / "lib/systemd/system/sonde.service").read_text()
    assert "ExecStart=/usr/local/bin/sonde agent -c /usr/local/etc/sonde/sonde.ini" in unit
    broken = [(page.relative_to(usr), link)
              for page in (usr / "share/doc/sonde").rglob("*.md")
              for link in re.findall(r"\]\(([^)#]+)", page.read_text())
              if "://" not in link and not (page.parent / link).exists()]
    assert broken == []
    recorded = subprocess.run([usr / "bin/sonde", "record", "-q", "--max-frames", "2", "-i", "10ms", "-o", tmp_path / "x.sonde"],
                              capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin"})
    assert recorded.returncode == 0, recorded.stderr
    assert (tmp_path / "x.sonde").stat().st_size > 100


def test_a_plugin_is_built_for_an_installed_sonde_and_found_by_it(root, build, tmp_path):
    """The template that was installed, copied elsewhere: make finds the headers by sonde.pc, make install the folder."""
    if "-fsanitize" in (build / "flags").read_text():
        pytest.skip("one build is installed, the plain one")
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not there")
    prefix = tmp_path / "there"
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    subprocess.run(["make", f"B={build}", "install", f"PREFIX={prefix}"], cwd=root, check=True, timeout=110, capture_output=True,
                   env=env)
    shutil.copytree(prefix / "share/doc/sonde/contrib/plugin-template", tmp_path / "mine")
    env["PKG_CONFIG_PATH"] = str(prefix / "lib/pkgconfig")
    version = subprocess.run(["pkg-config", "--modversion", "sonde"], env=env, capture_output=True, text=True, check=True).stdout
    sonde = prefix / "bin/sonde"
    assert version.strip() in subprocess.run([sonde, "version"], capture_output=True, text=True, check=True).stdout.split(",")[0]
    made = subprocess.run(["make", "install"], cwd=tmp_path / "mine", env=env, capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
    assert f"-I{prefix}/include" in made.stdout
    told = subprocess.run([sonde, "plugins", "uptime"], capture_output=True, text=True, timeout=20, env={"PATH": "/usr/bin:/bin"})
    assert f"file          {prefix}/bin/../lib/sonde/plugins/collector-uptime.so" in told.stdout
