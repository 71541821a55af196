"""`sonde plugins` and `sonde explain`: what is known of plugins, tables and columns without running any."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from compiling import environment, shared_object


def test_list_is_what_the_folder_has(sonde, build):
    """Kinds and names are those of the files, and `self`, which is in sonde itself."""
    result = sonde("plugins")
    assert result.returncode == 0 and result.stderr == ""
    listed = {tuple(line.split()[:2]) for line in result.stdout.splitlines()}
    files = {tuple(path.stem.split("-", 1)) for path in (build / "plugins").glob("*-*.so")}
    assert listed == files | {("collector", "self")}
    assert len(listed) > 10


def test_list_opens_no_plugin(build):
    """Files are read, not mapped as code: no mmap with PROT_EXEC of a plugin (strace, where there is one)."""
    try:
        trace = subprocess.run(["strace", "-f", "-e", "trace=mmap,openat", str(build / "sonde"), "plugins"],
                               capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("strace is not there")
    if "sink" not in trace.stdout:
        pytest.skip("strace may not trace here")
    opened = re.findall(r'openat\(AT_FDCWD, "([^"]*(?:collector|sink|analyzer|source)-[^"]*\.so)".* = (\d+)', trace.stderr)
    assert len(opened) > 10
    mapped = {fd for fd in re.findall(r"mmap\([^)]*PROT_EXEC[^)]*, (\d+), ", trace.stderr)}
    for path, fd in opened:
        later = trace.stderr.split(f'"{path}"', 1)[1].split("openat", 1)[0]
        assert not re.search(rf"mmap\([^)]*PROT_EXEC[^)]*, {fd}, ", later), path
    assert mapped is not None


def test_named(sonde):
    """Keys with defaults, the host's keys of its kind, tables with their columns."""
    result = sonde("plugins", "sink:file")
    assert result.returncode == 0
    assert re.search(r"^  rotate_size = 0 +size; ", result.stdout, re.M)
    assert re.search(r"^  privacy = +text, may repeat; ", result.stdout, re.M)
    result = sonde("plugins", "psi")
    assert result.returncode == 0
    assert "/proc/pressure" in result.stdout
    assert re.search(r"^  some_total +counter ", result.stdout, re.M)


def test_both_kinds_of_a_name(sonde):
    """udp is a sink and a source."""
    result = sonde("plugins", "udp")
    assert result.returncode == 0
    assert "sink udp " in result.stdout and "source udp " in result.stdout
    result = sonde("plugins", "source:udp")
    assert "sink udp " not in result.stdout and "source udp " in result.stdout


def test_unknown_name(sonde):
    result = sonde("plugins", "memifno")
    assert result.returncode == 1
    assert result.stderr == "sonde plugins: there is no plugin \"memifno\"; did you mean \"meminfo\"?\n"


def test_another_folder_first(sonde, tmp_path):
    """SONDE_PLUGIN_PATH comes before the build's folder: the same name there wins."""
    source = tmp_path / "loadavg.c"
    source.write_text(
        '#include <sonde/plugin.h>\n'
        'static int sample(struct sonde_instance *self, struct sonde_frame *frame)\n'
        '{ (void)self; (void)frame; return 0; }\n'
        'SONDE_COLLECTOR(loadavg, "another one", sample);\n')
    shared_object(source, tmp_path / "mine")
    result = sonde("plugins", env=environment(tmp_path / "mine"))
    lines = [line for line in result.stdout.splitlines() if line.split()[1] == "loadavg"]
    assert len(lines) == 1 and "another one" in lines[0]


def test_looking_drops_privileges(sonde, tmp_path):
    """What dlopen itself runs (a library that the plugin needs, with a constructor) has no capabilities."""
    library = tmp_path / "libnosy.so"
    (tmp_path / "nosy.c").write_text(
        '#include <fcntl.h>\n#include <string.h>\n#include <unistd.h>\n#include <stdlib.h>\n'
        'int nosy(void) { return 0; }\n'
        'static void __attribute__((constructor)) look(void)\n'
        '{ char text[8192]; int fd = open("/proc/self/status", O_RDONLY); ssize_t n = read(fd, text, sizeof text - 1);\n'
        '  int out = open(getenv("NOSY"), O_WRONLY | O_CREAT, 0600); if (n > 0) n = write(out, text, (size_t)n); }\n')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "nosy.c")], check=True)
    (tmp_path / "needs.c").write_text(
        '#include <sonde/plugin.h>\nint nosy(void);\n'
        'static int sample(struct sonde_instance *self, struct sonde_frame *frame)\n'
        '{ (void)self; (void)frame; return nosy(); }\n'
        'SONDE_COLLECTOR(needs, "needs a library", sample);\n')
    shared_object(tmp_path / "needs.c", tmp_path / "mine", str(library), f"-Wl,-rpath,{tmp_path}")
    seen = tmp_path / "seen"
    result = sonde("plugins", "needs", env={**environment(tmp_path / "mine"), "NOSY": str(seen)})
    assert result.returncode == 0, result.stderr
    status = seen.read_text()
    assert re.search(r"^CapEff:\t0+$", status, re.M)
    assert re.search(r"^CapPrm:\t0+$", status, re.M)
    assert re.search(r"^NoNewPrivs:\t1$", status, re.M)


def test_crash_while_loading(sonde, tmp_path):
    """A library that ends the process ends only the child that looks."""
    (tmp_path / "bomb.c").write_text(
        '#include <stdlib.h>\nint bomb(void) { return 0; }\n'
        'static void __attribute__((constructor)) now(void) { abort(); }\n')
    library = tmp_path / "libbomb.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "bomb.c")], check=True)
    (tmp_path / "lit.c").write_text(
        '#include <sonde/plugin.h>\nint bomb(void);\n'
        'static int sample(struct sonde_instance *self, struct sonde_frame *frame)\n'
        '{ (void)self; (void)frame; return bomb(); }\n'
        'SONDE_COLLECTOR(lit, "needs a bomb", sample);\n')
    shared_object(tmp_path / "lit.c", tmp_path / "mine", str(library), f"-Wl,-rpath,{tmp_path}")
    result = sonde("plugins", "lit", env=environment(tmp_path / "mine"))
    assert result.returncode == 1
    assert result.stderr == "sonde plugins: lit: it crashed while it was loaded (Aborted)\n"


def test_explain_column(sonde):
    """The file is /proc/pressure, the unit microseconds: Documentation/accounting/psi.rst."""
    result = sonde("explain", "psi.some_total")
    assert result.returncode == 0
    assert re.search(r"^origin +/proc/pressure/.*some total=", result.stdout, re.M)
    assert re.search(r"^meaning +counter: ", result.stdout, re.M)
    assert re.search(r"^unit +ns, in units of 1000 ns$", result.stdout, re.M)


def test_explain_metrics(sonde, tmp_path):
    """Each that a report prints, but for the one that is no mean of a stream."""
    told = sonde("explain", "cpu.pressure").stdout
    assert told == ("cpu.pressure: a metric, in reports and as evidence of findings\n\n"
                    "from      analyzer cpu: tasks that wait for a CPU, and why\n"
                    "counts    table psi: some_total, over wall time, of rows with resource=cpu\n"
                    "column    psi.some_total: Wall time in which at least one task was stalled (/proc/pressure/RESOURCE, some total=)\n")
    told = sonde("explain", "cpu.process_wait").stdout
    assert "\ncounts    table process: sched_wait, over sched_wait and sched_run\n" in told and told.count("process.sched_wait: ") == 1
    assert "counts    ns: from the start of a recorded command" in sonde("explain", "run.elapsed").stdout
    path = tmp_path / "a.sonde"
    sonde("record", "-q", "-i", "100ms", "-d", "1", "-o", path, check=True)
    names = {metric["name"] for metric in json.loads(sonde("report", "--json", path, check=True).stdout)["metrics"]}
    names -= {"mem.available_least"}
    assert len(names) > 20
    done = sonde("explain", *names, check=True)
    assert done.stdout.count("\nfrom      analyzer ") >= len(names)


def test_explain_table(sonde):
    result = sonde("explain", "loadavg")
    assert result.returncode == 0
    assert "/proc/loadavg" in result.stdout


@pytest.mark.parametrize("name,near", [("psi.sometotal", "psi.some_total"), ("pis", "psi"), ("memifno.x", "meminfo"),
                                       ("cpu.saturaton", "cpu.saturation"), ("mem.low_avialable", "mem.low_available"),
                                       ("cpu.presure", "cpu.pressure"), ("io.bussy", "io.busy")])
def test_explain_unknown(sonde, name, near):
    result = sonde("explain", name)
    assert result.returncode == 1 and result.stdout == ""
    assert f'did you mean "{near}"?' in result.stderr


def test_explain_misuse(sonde):
    assert sonde("explain").returncode == 2
    assert sonde("explain", "--markdown", "psi").returncode == 2
    assert sonde("plugins", "a", "b").returncode == 2


def test_markdown(sonde):
    """Twice the same bytes; sorted; every line of a table has its six cells; every plugin's tables are in it."""
    first, second = sonde("explain", "--markdown"), sonde("explain", "--markdown")
    assert first.returncode == 0 and first.stdout == second.stdout
    titles = re.findall(r"^## (\w+)$", first.stdout, re.M)
    assert titles == sorted(titles) and len(titles) == len(set(titles))
    for name in ("psi", "meminfo", "vmstat", "loadavg", "note", "gap", "finding", "raw"):
        assert name in titles
    rows = [line for line in first.stdout.splitlines() if line.startswith("| `")]
    assert len(rows) > 300
    for row in rows:
        assert len(re.split(r"(?<!\\)\|", row)) == 8, row


@pytest.fixture
def capable(build, tmp_path_factory):
    """A sonde with a file capability, in a folder that everybody may enter; run as nobody it has more rights than its user."""
    if os.geteuid() != 0 or not shutil.which("setcap") or not shutil.which("setpriv"):
        pytest.skip("needs root, setcap and setpriv")
    folder = Path(tempfile.mkdtemp(prefix="sonde-capable-", dir="/opt"))
    folder.chmod(0o755)
    shutil.copy(build / "sonde", folder / "sonde")
    shutil.copytree(build / "plugins", folder / "plugins")
    (folder / "plugins").chmod(0o755)
    if subprocess.run(["setcap", "cap_sys_ptrace+ep", str(folder / "sonde")], capture_output=True).returncode:
        shutil.rmtree(folder)
        pytest.skip("this file system has no file capabilities")

    def run(*args, **options):
        return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(folder / "sonde"),
                               *map(str, args)], capture_output=True, text=True, timeout=60, **options)

    run.folder = folder
    yield run
    shutil.rmtree(folder)


def test_capable_takes_only_roots_plugins(capable):
    """No variable names a folder, and a folder that is not root's alone is refused with the reason."""
    config = capable.folder / "a.ini"
    config.write_text("[loadavg]\n[sink:stdout]\n")
    config.chmod(0o644)
    probe = capable("check", "-c", config)
    if "can't be loaded" in probe.stderr or probe.returncode == 126:
        pytest.skip(f"a program with capabilities does not run here: {probe.stderr}")
    assert (probe.returncode, probe.stderr) == (0, "")
    theirs = capable.folder / "theirs"
    shutil.copytree(capable.folder / "plugins", theirs)
    os.chown(theirs, 65534, 65534)
    listed = capable("plugins", env={"SONDE_PLUGIN_PATH": str(theirs), "PATH": "/usr/bin"})
    assert listed.returncode == 0  # its own folder, as if the variable were not set
    named = capable("plugins", "loadavg", env={"SONDE_PLUGIN_PATH": str(theirs), "PATH": "/usr/bin"})
    assert f"{capable.folder}/plugins/collector-loadavg.so" in named.stdout
    config.write_text(f"[agent]\nplugin_path = {theirs}\n[loadavg]\n[sink:stdout]\n")
    refused = capable("check", "-c", config)
    assert refused.returncode == 1
    assert f"{theirs} is not root's alone (chown root, chmod go-w)" in refused.stderr
    (capable.folder / "plugins").chmod(0o777)
    config.write_text("[loadavg]\n[sink:stdout]\n")
    assert f"{capable.folder}/plugins is not root's alone" in capable("check", "-c", config).stderr


def test_vendor_and_licence_are_what_the_author_says(sonde, tmp_path):
    """A plugin of somebody else is not called sonde's own; those of this tree are."""
    source = tmp_path / "theirs.c"
    body = ('#include <sonde/plugin.h>\n'
            'static int sample(struct sonde_instance *self, struct sonde_frame *frame)\n'
            '{ (void)self; (void)frame; return 0; }\n'
            'SONDE_COLLECTOR(theirs, "somebody else\'s", sample);\n')
    for given, vendor, licence in (("", "unknown", "unknown"), (
            '#define SONDE_PLUGIN_VENDOR "Example Ltd"\n#define SONDE_PLUGIN_LICENCE "Proprietary"\n', "Example Ltd", "Proprietary")):
        source.write_text(given + body)
        shared_object(source, tmp_path / "mine")
        told = sonde("plugins", "theirs", env=environment(tmp_path / "mine")).stdout
        assert re.search(rf"^vendor +{vendor}$", told, re.M) and re.search(rf"^licence +{licence}$", told, re.M)
    for name in ("psi", "self", "sink:file", "analyzer:cpu"):
        told = sonde("plugins", name).stdout
        assert re.search(r"^vendor +sonde$", told, re.M) and re.search(r"^licence +Apache-2.0$", told, re.M)


def test_explain_finding(sonde):
    """What it is judged from, its thresholds as docs/configuration.md has them, and its page."""
    told = sonde("explain", "cpu.saturation")
    assert told.returncode == 0 and told.stderr == ""
    assert told.stdout.startswith("cpu.saturation: tasks wait for a CPU\n")
    assert re.search(r"^needs +psi\.some_total, or schedstat\.run_delay, or stat\.procs_running and cpu\.cpu$", told.stdout, re.M)
    assert re.search(r"^  saturation = 0\.10 +number, 0 to 1; share of time", told.stdout, re.M)
    assert re.search(r"^  saturation_critical = 0\.5 ", told.stdout, re.M)
    assert "steal" not in told.stdout
    assert re.search(r"^page +docs/findings\.md", told.stdout, re.M)


def test_explain_what_two_have_for_a_name(sonde):
    """cpu.steal is a column of /proc/stat and a finding."""
    told = sonde("explain", "cpu.steal").stdout
    assert re.search(r"^origin +/proc/stat", told, re.M) and "keys of [analyzer:cpu]" in told


def test_every_finding_is_explained(sonde, root):
    """Those of the page, and every key that a catalogue names is one of its analyzer."""
    ids = re.findall(r"^## ([a-z]+\.[a-z_]+)$", (root / "docs/findings.md").read_text(), re.M)
    assert len(ids) > 10
    for name in ids:
        told = sonde("explain", name)
        assert told.returncode == 0, told.stderr
        assert f"{name}: " in told.stdout and re.search(r"^from +analyzer ", told.stdout, re.M)
    for path in sorted((root / "analyzers").rglob("*.c")):
        text = path.read_text()
        keys = set(re.findall(r'(?:SONDE_THRESHOLD\(|SONDE_TIME\(|\{)\s*"([a-z_]+)"', text))
        for named in re.findall(r'^\t  "([a-z_ ]+)" \},$', text, re.M):
            assert set(named.split()) <= keys, path
