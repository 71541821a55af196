"""fluent, the sink, over the loopback: a server of the tests' own takes what is sent, and answers well, badly or not at all.

Cases of the corpus: 163 (an acknowledgement that is not of the chunk is no endless loop), 166 (forms of entries and time).
"""

import json
import socket
import threading
import time

import msgpack
import pytest

from captured import configuration, make_tree
from live import law, rows


class Server:
    """A forward input: decodes messages as they come and answers each with what answer(message, number) returns.

    None is no answer, CLOSE ends the connection. What was taken is in `messages`, as (connection, message).
    """

    CLOSE = object()

    def __init__(self, answer, port=0, reads=True):
        self.answer, self.reads = answer, reads
        self.messages, self.connections, self.ended = [], 0, False
        self.socket = socket.create_server(("127.0.0.1", port))
        self.socket.settimeout(0.1)
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ended:
            try:
                connection, _ = self.socket.accept()
            except TimeoutError:
                continue
            self.connections += 1
            with connection:
                connection.settimeout(0.1)
                self.serve(connection)

    def serve(self, connection):
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="surrogateescape",
                                    max_buffer_size=1 << 28)
        while not self.ended:
            if not self.reads:
                time.sleep(0.1)
                continue
            try:
                data = connection.recv(65536)
            except TimeoutError:
                continue
            except OSError:
                return
            if not data:
                return
            unpacker.feed(data)
            for message in unpacker:
                self.messages.append((self.connections, message))
                answer = self.answer(message, len(self.messages))
                if answer is self.CLOSE:
                    return
                if answer is not None:
                    try:
                        connection.sendall(answer)
                    except OSError:
                        return

    def end(self):
        self.ended = True
        self.thread.join()
        self.socket.close()

    def ids(self):
        return [message[2]["chunk"] for _, message in list(self.messages)]


def ack(message, _number=0):
    return msgpack.packb({"ack": message[2]["chunk"]})


def entries(message):
    """[(time, record), ...] of the packed entries, whatever type they came in."""
    packed = message[1] if isinstance(message[1], bytes) else message[1].encode("utf-8", "surrogateescape")
    unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="surrogateescape")
    unpacker.feed(packed)
    return list(unpacker)


@pytest.fixture
def server():
    """server(answer): listens until the test's end."""
    started = []

    def start(answer, **options):
        started.append(Server(answer, **options))
        return started[-1]

    yield start
    for each in started:
        each.end()


@pytest.fixture
def run(agent, tmp_path):
    """run(address, *keys): an agent with the sink, and another that shows what the host counts."""

    def start(address, *keys, more="", interval="100ms"):
        sink = "".join(f"{line}\n" for line in ("[sink:fluent]", f"address = {address}", "flush = 100ms", *keys))
        path = tmp_path / "agent.ini"
        path.write_text(f"[agent]\ninterval = {interval}\n[meminfo]\n[loadavg]\n[vmstat]\n[self]\n"
                        f"{sink}[sink:stdout]\nflush = 0s\n{more}")
        return agent("agent", "-c", path)

    return start


def counted(running):
    """The sink's rows of self_sink so far, each of which keeps the law of delivery."""
    found = [row for row in rows(running.stdout, "self_sink") if row["keys"]["sink"] == "sink:fluent"]
    assert all(law(row) for row in found)
    return found


def delivered(running):
    found = counted(running)
    return found[-1]["values"]["delivered"] if found else 0


@pytest.mark.parametrize("form", ["bin", "str"])
def test_records_are_those_of_json(run, server, form, tmp_path, sonde, wait_until):
    """Row for row what `cat --json` prints of a recording of the same run; the time of each is the row's, to the nanosecond."""
    there = server(ack)
    running = run(there.address, f"entries = {form}", "tables = vmstat, meminfo, loadavg",
                  more=f"[sink:file]\npath = {tmp_path}/a.sonde\n")
    wait_until(lambda: delivered(running) >= 10)
    assert running.end() == 0
    got = []
    for _, (tag, packed, option) in there.messages:
        assert isinstance(packed, bytes if form == "bin" else str)
        found = entries([tag, packed])
        assert option["size"] == len(found) and len(option["chunk"]) == 24
        for at, record in found:
            assert (at.code, len(at.data)) == (0, 8)
            seconds, ns = int.from_bytes(at.data[:4], "big"), int.from_bytes(at.data[4:], "big")
            assert seconds * 10**9 + ns == record["time"]
            assert tag == f"sonde.{record['table']}"
            got.append(record)
    told = rows(sonde("cat", "--json", tmp_path / "a.sonde").stdout, "vmstat", "meminfo", "loadavg", "end")
    key = lambda row: (row["sequence"], row["table"], json.dumps(row["keys"]))
    assert sorted(map(key, got)) == sorted(map(key, told))
    assert sorted(got, key=key) == sorted(told, key=key)
    assert len(there.ids()) == len(set(there.ids()))
    assert there.connections == 1 and running.stderr == ""


def test_names_that_are_no_text(agent, tmp_path, server, wait_until):
    """A name of the kernel's that is not UTF-8 is bin, whole."""
    there = server(ack)
    path = tmp_path / "a.ini"
    sink = f"[sink:fluent]\naddress = {there.address}\nflush = 0s\ntables = process\n"
    path.write_text(configuration(make_tree(tmp_path / "tree"), sink))
    running = agent("agent", "-c", path)
    wait_until(lambda: there.messages)
    assert running.end() == 0
    names = {record["values"]["comm"] for _, record in entries(there.messages[0][1])}
    assert b"inner-job-\xe5\x90\x8c\xe6\xad" in names and "\u202egpj.exe" in names


def test_seconds(run, server, wait_until):
    there = server(ack)
    running = run(there.address, "time = seconds", "tag = web.sonde")
    wait_until(lambda: delivered(running) >= 1)
    assert running.end() == 0
    tag, packed, _ = there.messages[0][1]
    assert tag.startswith("web.sonde.")
    assert all(at == record["time"] // 10**9 for at, record in entries([tag, packed]))


BAD = {
    "another id": lambda message, _: msgpack.packb({"ack": "A" * 24}),
    "empty id": lambda message, _: msgpack.packb({"ack": ""}),
    "with a line feed": lambda message, _: msgpack.packb({"ack": message[2]["chunk"] + "\n"}),
    "nothing": lambda message, _: None,
    "garbage": lambda message, _: b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "five bytes that ask for gigabytes": lambda message, _: b"\xdd\xff\xff\xff\xff",
    "endless": lambda message, _: b"\x81\xa3ack\xd9\xff" + b"x" * 65536,
    "closed midway": lambda message, _: Server.CLOSE,
}


@pytest.mark.parametrize("bad", BAD)
def test_not_acknowledged_is_not_delivered(run, server, bad, wait_until):
    """Case 163. The same chunks again after 1 s and 2 s, not in a loop; nothing is lost once the peer acknowledges."""
    good = threading.Event()
    there = server(lambda message, n: ack(message) if good.is_set() else BAD[bad](message, n))
    running = run(there.address, "timeout = 300ms", "tables = self_sink")
    wait_until(lambda: there.messages)
    time.sleep(3.5)
    assert delivered(running) == 0
    assert 2 <= there.connections <= 5
    first = there.messages[0][1]
    again = [message for _, message in there.messages if message[2]["chunk"] == first[2]["chunk"]]
    assert 2 <= len(again) <= there.connections
    assert all(message == first for message in again)
    assert running.stderr.count("trying again") == 1
    good.set()
    wait_until(lambda: delivered(running) >= 30, timeout=30)
    assert running.stderr.count("delivering again") == 1
    assert running.end() == 0
    numbers = {record["sequence"] for _, message in there.messages for _, record in entries(message)}
    assert numbers == set(range(1, max(numbers) + 1))
    assert counted(running)[-1]["values"]["dropped"] == 0


def test_what_was_acknowledged_is_not_sent_again(run, server, wait_until):
    """Of two tables of an instant the second is never acknowledged on the first connection: it alone comes again."""
    there = server(lambda message, n: None if there.connections == 1 and message[0] == "sonde.meminfo" else ack(message))
    running = run(there.address, "timeout = 500ms", "tables = meminfo, loadavg")
    wait_until(lambda: delivered(running) >= 10, timeout=20)
    assert running.end() == 0
    for connection, message in there.messages:
        times = there.ids().count(message[2]["chunk"])
        assert times == (2 if connection == 1 and message[0] == "sonde.meminfo" else 1) or connection == 2
    assert len([m for m in there.messages if m[1][0] == "sonde.loadavg"]) == len(
        {m[1][2]["chunk"] for m in there.messages if m[1][0] == "sonde.loadavg"})


def test_a_server_that_comes_late(run, server, wait_until):
    """Sampling goes on, one warning says so, and all of it arrives."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    running = run(f"127.0.0.1:{port}", "tables = self_sink")
    wait_until(lambda: len(counted(running)) >= 20)
    assert running.stderr.count("Connection refused; trying again") == 1
    there = server(ack, port=port)
    wait_until(lambda: delivered(running) >= 20, timeout=20)
    assert running.stderr.count("delivering again") == 1
    assert running.end() == 0
    assert running.stderr.count("trying again") == 1
    numbers = {record["sequence"] for _, message in there.messages for _, record in entries(message)}
    assert numbers == set(range(1, max(numbers) + 1))


@pytest.mark.parametrize("acknowledged", ["yes", "no"])
def test_a_reader_that_does_not_read(run, server, acknowledged, wait_until):
    """The ring bounds what waits for it: the oldest is dropped and counted; no tick is missed, and the agent ends in time."""
    there = server(ack, reads=False)
    running = run(there.address, f"ack = {acknowledged}", "ring = 64KiB", interval="10ms")
    wait_until(lambda: counted(running) and counted(running)[-1]["values"]["dropped"] > 0, timeout=90)
    numbers = sorted({row["sequence"] for row in rows(running.stdout)})
    assert numbers == list(range(1, numbers[-1] + 1))
    assert running.end(timeout=10) == 0, running.stderr


def test_without_acknowledgements(run, server, wait_until):
    """No chunk is asked for, and what the kernel took is delivered."""
    there = server(lambda message, n: None)
    running = run(there.address, "ack = no", "tables = loadavg")
    wait_until(lambda: delivered(running) >= 10)
    assert running.end() == 0
    assert all(message[2] == {"size": 1} for _, message in there.messages)
    numbers = [record["sequence"] for _, message in there.messages for _, record in entries(message)]
    assert numbers[:10] == list(range(1, 11))


def test_a_server_that_is_started_anew(run, server, wait_until):
    """A connection that the peer closed while nothing was under way is opened again; no chunk is sent twice."""
    there = server(ack)
    port = int(there.address.split(":")[1])
    running = run(there.address, "tables = loadavg", interval="1s")
    wait_until(lambda: delivered(running) >= 1)
    wait_until(lambda: there.messages)
    time.sleep(0.5)
    there.end()
    anew = server(ack, port=port)
    wait_until(lambda: len(anew.messages) >= 2)
    assert running.end() == 0
    ids = there.ids() + anew.ids()
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("line, why", [
    ("address = 127.0.0.1", "it is not HOST:PORT"),
    ("", "address"),
    ("address = 127.0.0.1:1\ntime = ms", "time"),
    ("address = 127.0.0.1:1\nentries = map", "entries"),
])
def test_mistakes(sonde, tmp_path, line, why):
    path = tmp_path / "a.ini"
    path.write_text(f"[loadavg]\n[sink:fluent]\n{line}\n")
    result = sonde("check", "-c", path)
    assert result.returncode != 0 and why in result.stderr
