"""Who may include what, how long a file may be, what a plugin may export: the rules of docs/architecture.md, held by a test."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ["core", "wire", "window", "host", "live", "demo", "import", "cli", "cli/live", "reader", "windows"]

# What each part of framework/ may include of the others.
MAY = {
    "core": {"core"},
    "wire": {"core", "wire"},
    "window": {"core", "window"},
    "host": {"core", "wire", "window", "host"},
    "live": {"core", "wire", "window", "host", "live"},
    "demo": {"core", "wire", "demo"},
    "import": {"core", "wire", "import"},
    "cli": {"core", "host", "cli"},
    "cli/live": {"core", "host", "live", "cli", "cli/live"},
    "reader": {"core", "host", "cli"},
    "windows": set(),
}
# Beyond that, single headers.
AND = {
    "demo": {"host/capture.h", "host/stream.h"},
    "import": {"host/must.h", "host/stream.h"},
    "cli": {"wire/reader.h", "import/import.h"},
    "cli/live": {"wire/reader.h", "demo/demo.h"},
    "windows": {"cli/cli.h", "core/memory_file.h"},
}
LINES = 700
COMMENT = {".c": "/*", ".h": "/*", ".ts": "/*", ".mjs": "/*", ".css": "/*", ".py": ('"""', "#"), ".sh": "#!"}


def sources(*folders):
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in COMMENT and path.is_file() and not {"fixtures", "node_modules"} & set(path.parts)
    )


def part_of(name):
    """The part of framework/ that a path below it is of."""
    return name.rpartition("/")[0]


def includes(path):
    return re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def test_framework_parts_include_only_what_they_stand_on():
    wrong = []
    for path in sources("framework"):
        part = part_of(str(path.relative_to(ROOT / "framework")))
        for quote, name in includes(path):
            of = part_of(name)
            if part == "include/sonde":
                bad = of in PARTS
            else:
                bad = of in PARTS and of not in MAY[part] and name not in AND.get(part, ())
            if bad:
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert not wrong


@pytest.mark.parametrize("folder, may", [("plugins", []), ("sinks", []), ("analyzers", []), ("verbs", ["core", "wire"])])
def test_plugins_see_only_the_public_headers(folder, may):
    files = sources(folder)
    assert files
    wrong = []
    for path in files:
        for quote, name in includes(path):
            own = quote == '"' and (path.parent / name).is_file() and ".." not in name
            system = quote == "<" and name.split("/")[0] not in PARTS
            if not own and not system and name.split("/")[0] not in may:
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert not wrong


def test_a_file_is_short_and_says_first_what_it_is():
    wrong = []
    for path in sources("framework", "plugins", "sinks", "analyzers", "verbs", "tests", "contrib", "tools"):
        text = path.read_text()
        lines = text.count("\n")
        if lines > LINES:
            wrong.append(f"{path.relative_to(ROOT)}: {lines} lines")
        if text and not text.startswith(COMMENT[path.suffix]):
            wrong.append(f"{path.relative_to(ROOT)}: its first line is no comment")
    assert not wrong


# Of C17 and POSIX.1-2008, what is in both glibc and the BSDs besides, and the libraries.
EVERYWHERE = set("""assert ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
stdbool stddef stdint stdio stdlib stdnoreturn string strings tgmath time uchar wchar wctype
dirent dlfcn fcntl fnmatch glob grp pthread poll pwd regex sched semaphore spawn termios unistd
sys/file sys/mman sys/stat sys/time sys/types sys/uio sys/wait
endian getopt ini jansson lz4frame""".split())


def test_linux_headers_are_where_something_is_sampled():
    """Readers are built on other systems too; what stands in their place there is framework/reader and framework/windows."""
    reading = [ROOT / f"sinks/{name}" for name in ("fixture", "report", "stdout", "tree")]
    wrong, used = [], set()
    for path in [*sources("framework", "analyzers", "verbs"), *(each for folder in reading for each in sources(str(folder.relative_to(ROOT))))]:
        if {"live", "windows", "demo"} & set(path.relative_to(ROOT).parts):
            continue
        if path.name in ("address.h", "procevents.h", "targets.h"):
            continue  # of sinks with sockets, of collectors
        text = re.sub(r"#ifdef __GLIBC__.*?#endif", "", path.read_text(), flags=re.S)
        for name in re.findall(r"^\s*#\s*include <([^>]+)\.h>", text, re.MULTILINE):
            used.add(name)
            if name not in EVERYWHERE and not name.startswith(("sonde/", "msgpack/")):
                wrong.append(f"{path.relative_to(ROOT)}: <{name}.h>")
    assert not wrong
    assert {"stdio", "pthread", "dirent"} <= used


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def plugins(build):
    files = sorted((build / "plugins").glob("*.so"))
    assert files
    return files


def exported(path):
    """Symbols that others could bind to; a copy of libc's own data is no export of ours."""
    names = [line.split()[-1] for line in tool("nm", "-D", "--defined-only", str(path))]
    return [name for name in names if "@GLIBC" not in name]


def test_a_plugin_exports_its_descriptor_and_nothing_else(build):
    assert {path.name: exported(path) for path in plugins(build)} == {
        path.name: ["sonde_plugin"] for path in plugins(build)
    }


def test_the_host_exports_nothing(build):
    if "-fsanitize" in (build / "flags").read_text():
        pytest.skip("a sanitizer's run time exports its own symbols")
    assert exported(build / "sonde") == []


def test_plugins_have_no_writable_statics(build):
    """Two instances of one plugin share nothing: what .data and .bss hold is the compiler's."""
    if "-fsanitize" in (build / "flags").read_text():
        pytest.skip("a sanitizer adds data of its own")
    compilers = {"completed.0", "__dso_handle", "__TMC_END__", "__bss_start", "_edata", "_end"}
    found = []
    for path in plugins(build):
        for line in tool("objdump", "-t", str(path)):
            words = line.split()
            if len(words) > 3 and words[-3] in (".data", ".bss") and words[-1] not in compilers | {".data", ".bss"}:
                found.append(f"{path.name}: {words[-1]}")
    assert not found


def test_a_rebuild_of_nothing_takes_under_a_second(build):
    """And builds nothing: make -q says so by its status."""
    if build != ROOT / "build":
        pytest.skip("for the build in build/")
    subprocess.run(["make", "-q", "all"], cwd=ROOT, check=True, timeout=10, capture_output=True)
    fastest = min(
        float(subprocess.run(
            ["/bin/bash", "-c", "TIMEFORMAT=%R; time make -s all >/dev/null"],
            cwd=ROOT, check=True, capture_output=True, text=True, timeout=60,
        ).stderr.split()[-1])
        for _ in range(3)
    )
    assert fastest < 1
