"""The stdout sink as its users meet it: every format read by somebody else's reader, values against the tree they came from.

Cases of the corpus: 2, 3, 5, 6 and 167 (names), 160 to 162 (a reader that does not read).
"""

import csv
import io
import json
import os
import re
import subprocess

import pytest

from captured import NAMES, PSI, configuration, make_tree

msgpack = pytest.importorskip("msgpack", reason="no python3-msgpack")


@pytest.fixture(scope="module")
def recording(tmp_path_factory, build):
    """The tree, recorded for a few instants."""
    folder = tmp_path_factory.mktemp("stdout")
    path = folder / "a.sonde"
    config = folder / "a.ini"
    config.write_text(configuration(make_tree(folder / "tree"), f"[sink:file]\npath = {path}\n"))
    subprocess.run(
        ["timeout", "-s", "TERM", "1", build / "sonde", "agent", "-c", config], timeout=20, stderr=subprocess.PIPE
    )
    assert path.stat().st_size > 0
    return path


@pytest.fixture
def cat(sonde, recording):
    """cat(format, *args): the recording's rows in this format, as bytes."""

    def run(format, *args):
        done = sonde("cat", "--format", format, *args, recording, text=False)
        assert done.returncode == 0 and done.stderr == b"", done.stderr
        return done.stdout

    return run


def objects(text):
    return [json.loads(line) for line in text.decode().splitlines()]


def shown(name):
    """A name as JSON's text has it: what is not UTF-8 is U+FFFD, one a byte."""
    return "".join(c if not "\udc80" <= c <= "\udcff" else "\ufffd" for c in name.decode(errors="surrogateescape"))


def test_json_says_what_the_files_said(cat):
    rows = objects(cat("json"))
    meminfo = next(row for row in rows if row["table"] == "meminfo")
    assert meminfo["values"] == {"mem_total": 16318156, "mem_free": 9007199254740993, "buffers": 0}
    assert meminfo["keys"] == {}
    psi = {row["keys"]["resource"]: row["values"] for row in rows if row["table"] == "psi" and row["sequence"] == 1}
    for resource, (avg, total) in PSI.items():
        assert psi[resource]["some_total"] == total
        assert psi[resource]["some_avg10"] == int(avg.replace(".", ""))


def test_json_rows_stand_alone(cat):
    """sinks/stdout/stdout.md: the names of a row, in order."""
    rows = objects(cat("json"))
    own = ["time", "boottime", "host", "boot", "tags", "instance", "sequence", "table", "hash", "keys", "values"]
    for row in rows:
        assert list(row) == own
        assert row["host"] == "web1" and row["tags"] == {"env": "prod"}
        assert re.fullmatch("[0-9a-f]{16}", row["hash"])
        assert type(row["time"]) is int and row["time"] > 1_600_000_000_000_000_000
    assert any(row["table"] == "end" and row["values"]["reason"] == "signal" for row in rows)


def test_instants_are_numbered_without_a_hole(cat):
    numbers = sorted({row["sequence"] for row in objects(cat("json"))})
    assert numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 3


def test_names_in_json(cat):
    rows = [row for row in objects(cat("json")) if row["table"] == "process" and row["sequence"] == 1]
    assert {row["keys"]["pid"]: row["values"]["comm"] for row in rows} == {
        pid: shown(name) for pid, name in NAMES.items()
    }
    for row in rows:
        assert row["values"]["utime"] == 100 + row["keys"]["pid"]
        assert row["values"]["ppid"] == 1


def test_msgpack_has_the_same_rows(cat):
    as_json = objects(cat("json"))
    as_msgpack = list(msgpack.Unpacker(io.BytesIO(cat("msgpack")), raw=False))
    assert len(as_json) == len(as_msgpack)
    for one, other in zip(as_json, as_msgpack):
        comm = other["values"].get("comm")
        if isinstance(comm, bytes):
            assert comm == NAMES[other["keys"]["pid"]]
            other["values"]["comm"] = shown(comm)
        assert one == other


def tables_of_csv(text):
    """{table: [row as a dict]} by the header lines."""
    heads, rows = {}, []
    for cells in csv.reader(io.StringIO(text.decode(), newline="")):
        if cells[0].startswith("#"):
            heads[cells[0][1:]] = cells
        else:
            assert len(cells) == len(heads[cells[0]])
            rows.append((cells[0], list(zip(heads[cells[0]][1:], cells[1:]))))
    return rows


def test_csv_has_the_same_rows(cat):
    as_json = objects(cat("json"))
    as_csv = tables_of_csv(cat("csv"))
    assert len(as_json) == len(as_csv)
    for one, (table, cells) in zip(as_json, as_csv):
        assert table == one["table"]
        own, columns = dict(cells[:8]), cells[8:]
        assert own["time"] == str(one["time"]) and own["sequence"] == str(one["sequence"])
        assert own["hash"] == one["hash"] and own["tags"] == "env=prod"
        said = {**one["keys"], **one["values"]}
        for name, cell in columns:
            value = said.pop(name, None)
            if value is None:
                assert cell == ""
            elif isinstance(value, str):
                assert unescaped(cell) == value
            else:
                assert cell == str(value)
        assert not said


def unescaped(cell):
    """Back from csv's escapes; what was not UTF-8 as JSON shows it."""

    def one(match):
        escape = match.group(0)
        if escape[1] in "ntr\\":
            return {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}[escape[1]]
        code = int(escape[2:], 16)
        return "\ufffd" if escape[1] == "x" and code >= 0x80 else chr(code)

    return re.sub(r"\\(?:[ntr\\]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})", one, cell)


def test_a_line_of_csv_is_a_row_and_one_table_can_be_cut_out(cat):
    lines = cat("csv").decode().split("\n")
    assert lines.pop() == ""
    cut = [line for line in lines if re.match("^#?process,", line)]
    rows = list(csv.DictReader(io.StringIO("\n".join(cut))))
    first = [row for row in rows if row["sequence"] == "1"]
    assert {int(row["pid"]) for row in first} == set(NAMES)
    assert len(rows) == len(cut) - 1


def test_names_in_influx_lines(cat):
    """By the rules of docs.influxdata.com, "Line protocol": unescaped commas and blanks end a part."""
    lines = cat("influx").decode().split("\n")
    assert lines.pop() == ""
    processes = [line for line in lines if line.startswith("process,")]
    assert len(processes) >= len(NAMES)
    for line in processes:
        series, fields, time = re.fullmatch(
            r'((?:\\.|[^ \\])+) ((?:[a-z0-9_]+=(?:"(?:\\.|[^"\\])*"|[^" ,]+),?)+) (\d+)', line
        ).groups()
        tags = dict(re.findall(r",((?:\\.|[^,=\\])+)=((?:\\.|[^,\\])+)", series))
        assert tags["host"] == "web1" and tags["env"] == "prod"
        pid = int(tags["pid"])
        assert f"utime={100 + pid}u" in fields.split(",")
        comm = re.search(r'comm="((?:\\.|[^"\\])*)"', fields).group(1)
        comm = comm.replace('\\"', '"').replace("\\\\", "\\")
        assert comm == re.sub("[\n\x1b\u202e]", "\ufffd", shown(NAMES[pid]))


def test_names_in_logfmt(cat):
    lines = cat("logfmt").decode().split("\n")
    assert lines.pop() == ""
    processes = [line for line in lines if " table=process " in line]
    assert len(processes) >= len(NAMES)
    for line in processes:
        pairs = dict(re.findall(r'([a-z0-9_.]+)=("(?:\\.|[^"\\])*"|[^" ]*)(?: |$)', line))
        comm = pairs["comm"]
        comm = json.loads(comm) if comm.startswith('"') else comm
        assert comm == shown(NAMES[int(pairs["pid"])])


def test_nothing_in_a_table_acts_on_the_terminal(cat):
    text = cat("table").decode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    for seen in ("my file with\\nsp", "\\u202egpj.exe", "\\x1b[2Jx\\x9b", "12.34", "mem_total"):
        assert seen in text


def test_same_input_same_bytes(cat, monkeypatch):
    for format in ("json", "csv", "table"):
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
        one = cat(format)
        monkeypatch.setenv("TZ", "America/New_York")
        monkeypatch.setenv("LC_ALL", "C")
        assert one == cat(format)


def test_the_stream_itself_can_be_piped_on(sonde, cat):
    stream = cat("sonde")
    again = sonde("cat", "--json", "-", input=stream, text=False)
    assert again.returncode == 0
    assert sorted(again.stdout.splitlines()) == sorted(cat("json").splitlines())


def test_a_reader_that_has_enough_ends_it_quietly(build, recording):
    """head(1) closes the pipe: no message, status 0."""
    done = subprocess.run(
        ["bash", "-c", f"for i in $(seq 500); do echo {recording}; done | xargs cat > {recording}.long;"
         f"{build}/sonde cat --json {recording}.long | head -n 1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True, text=True, timeout=60,
    )
    first, status = done.stdout.splitlines()
    assert json.loads(first)["sequence"] == 1
    assert status == "0" and done.stderr == ""


def test_a_recording_is_not_written_over(sonde, recording):
    before = recording.read_bytes()
    done = sonde("cat", f"--json={recording}", recording)
    assert done.returncode == 1 and str(recording) in done.stderr
    assert recording.read_bytes() == before


def test_json_into_a_file(sonde, recording, cat, tmp_path):
    target = tmp_path / "out.json"
    assert sonde("cat", f"--json={target}", recording).returncode == 0
    assert target.read_bytes() == cat("json")
    assert target.stat().st_mode & 0o777 == 0o600


def sink(format, *keys):
    return "".join(f"{line}\n" for line in ("[sink:stdout]", f"format = {format}", "flush = 0s", *keys))


def live(agent, tmp_path, *sections, **options):
    tree = tmp_path / "tree"
    config = tmp_path / "live.ini"
    config.write_text(configuration(tree if tree.exists() else make_tree(tree), *sections))
    return agent("agent", "-c", config, **options)


def test_options_of_the_section(agent, tmp_path, wait_until):
    """integers, scaled: of 9007199254740993 KiB the bytes, of 12.34 % the ratio."""
    running = live(agent, tmp_path, sink("json", "integers = string", "scaled = yes"))
    wait_until(lambda: running.stdout.count('"table":"psi"') >= 3)
    assert running.end() == 0
    rows = [json.loads(line) for line in running.stdout.splitlines()]
    meminfo = next(row for row in rows if row["table"] == "meminfo")
    assert meminfo["values"]["mem_free"] == str(9007199254740993 * 1024)
    psi = next(row for row in rows if row["table"] == "psi" and row["keys"]["resource"] == "cpu")
    assert psi["values"]["some_avg10"] == 0.1234
    assert psi["values"]["some_total"] == str(PSI["cpu"][1] * 1000)
    assert psi["sequence"] == "1"


def test_each_instant_is_out_within_a_tick(agent, tmp_path, wait_until):
    """flush = 0s: whole lines, the newest of them as soon as it was read."""
    running = live(agent, tmp_path, sink("json"))
    wait_until(lambda: running.stdout.count('"sequence":5,') > 0)
    assert all(json.loads(line) for line in running.stdout.splitlines()[:-1])
    assert running.end() == 0


def test_a_full_device_is_said_once_and_others_go_on(agent, tmp_path, wait_until):
    """full(4): every write fails with ENOSPC. The file beside it gets everything; the agent ends in time."""
    other = tmp_path / "other.json"
    running = live(agent, tmp_path, sink("csv", "path = /dev/full"), f"[sink:stdout b]\npath = {other}\nflush = 0s\n")
    wait_until(lambda: other.exists() and '"sequence":20,' in other.read_text())
    assert running.end(timeout=5) == 0
    assert running.stderr.count("No space left on device") == 1
    numbers = {json.loads(line)["sequence"] for line in other.read_text().splitlines()}
    assert numbers == set(range(1, max(numbers) + 1))


def test_a_reader_that_does_not_read_stops_nothing(agent, tmp_path, wait_until):
    """Case 162: the pipe is full for ever. Sampling goes on, another sink misses nothing, the agent ends in time."""
    other = tmp_path / "other.json"
    ends = os.pipe()
    running = live(
        agent, tmp_path, sink("json"), f"[sink:stdout b]\npath = {other}\nflush = 0s\n", stdout=ends[1]
    )
    os.close(ends[1])
    wait_until(lambda: other.exists() and '"sequence":100,' in other.read_text(), timeout=30)
    running.end(timeout=5)
    os.close(ends[0])
    numbers = {json.loads(line)["sequence"] for line in other.read_text().splitlines()}
    assert numbers == set(range(1, max(numbers) + 1))


def test_a_reader_that_goes_away(agent, tmp_path, wait_until):
    """EPIPE of the only sink: the agent has nothing to do any more and ends quietly."""
    ends = os.pipe()
    running = live(agent, tmp_path, sink("json"), stdout=ends[1])
    os.close(ends[1])
    assert os.read(ends[0], 100)
    os.close(ends[0])
    assert running.wait(timeout=10) == 0
    assert running.stderr == ""


def test_a_renamed_file_is_opened_anew_on_sighup(agent, tmp_path, wait_until):
    path = tmp_path / "out.json"
    old = tmp_path / "out.json.1"
    running = live(agent, tmp_path, sink("json", f"path = {path}"))
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    path.rename(old)
    running.send(1)
    wait_until(lambda: path.exists() and path.stat().st_size > 0)
    assert running.end() == 0
    rows = [json.loads(line) for each in (old, path) for line in each.read_text().splitlines()]
    numbers = sorted({row["sequence"] for row in rows})
    assert numbers == list(range(1, numbers[-1] + 1))


def test_meminfo_of_this_machine(sonde, build, tmp_path):
    """Against /proc/meminfo itself: MemTotal and SwapTotal do not move between two reads."""
    path = tmp_path / "live.sonde"
    config = tmp_path / "live.ini"
    config.write_text(f"[agent]\ninterval = 50ms\n[meminfo]\n[sink:file]\npath = {path}\n")
    subprocess.run(["timeout", "-s", "TERM", "0.5", build / "sonde", "agent", "-c", config], timeout=20)
    said = dict(re.findall(r"^(\w+): +(\d+) kB$", open("/proc/meminfo").read(), re.M))
    rows = objects(sonde("cat", "--json", path, text=False).stdout)
    rows = [row for row in rows if row["table"] == "meminfo"]
    assert rows
    for row in rows:
        assert row["values"]["mem_total"] == int(said["MemTotal"])
        assert row["values"]["swap_total"] == int(said["SwapTotal"])
