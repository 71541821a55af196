"""udp, sink and source, over the loopback: what is sent arrives with its values, and what cannot be sent is said once.

Cases of the corpus: 154 and 155 (datagrams whole and below the path's MTU), 156 (EMSGSIZE not repeated for ever), 161 (true
numbers), 162 (a server that is not there stops nobody).
"""

import json
import socket

import pytest

from captured import NAMES, configuration, make_tree


@pytest.fixture
def config(tmp_path):
    """config(*sections): a configuration file that reads the tests' own tree."""
    tree = make_tree(tmp_path / "tree")

    def write(*sections, **options):
        path = tmp_path / "agent.ini"
        path.write_text(configuration(tree, *sections, **options))
        return path

    return write


def bound(family=socket.AF_INET, address="127.0.0.1"):
    """A socket of the tests' own, and its HOST:PORT."""
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.bind((address, 0))
    sock.settimeout(10)
    port = sock.getsockname()[1]
    return sock, f"[{address}]:{port}" if family == socket.AF_INET6 else f"{address}:{port}"


def free_address():
    sock, address = bound()
    sock.close()
    return address


def sink(address, *keys):
    return "".join(f"{line}\n" for line in ("[sink:udp]", f"address = {address}", "flush = 0s", *keys))


def local(path):
    return f"[sink:stdout]\npath = {path}\nflush = 0s\n"


def objects(path):
    """Whole lines so far: the last one may still be written."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def essence(row):
    return (row["sequence"], row["table"], json.dumps(row["keys"]), json.dumps(row["values"]))


def test_what_is_sent_arrives(agent, config, tmp_path, wait_until):
    """Row for row what the sender wrote into a file of its own, names and 64-bit values included."""
    address = free_address()
    there, here = tmp_path / "there.json", tmp_path / "here.json"
    receiver = agent("receive", "--listen", address, f"--json={there}")
    wait_until(there.exists)
    sender = agent("agent", "-c", config(sink(address), local(here)))
    wait_until(lambda: any(row["sequence"] >= 20 for row in objects(here)))
    assert sender.end() == 0
    wait_until(lambda: any(row["table"] == "end" and row["host"] == "web1" for row in objects(there)))
    assert receiver.end() == 0
    sent = {essence(row) for row in objects(here)}
    got = [row for row in objects(there) if row["host"] == "web1"]
    assert {essence(row) for row in got} == sent
    assert len(got) == len(objects(here))
    boot = objects(here)[0]["boot"]
    assert all(row["boot"] == boot and row["tags"] == {"env": "prod"} for row in got)
    assert {row["keys"]["pid"] for row in got if row["table"] == "process"} == set(NAMES)


@pytest.mark.parametrize("size", [None, 512, 1472])
def test_no_datagram_is_larger_than_asked(agent, config, size):
    """Case 155: by default what any path takes; the size is of the whole payload."""
    sock, address = bound()
    running = agent("agent", "-c", config(sink(address, *([f"size = {size}"] if size else []))))
    lengths = [len(sock.recv(65536)) for _ in range(60)]
    assert running.end() == 0
    sock.close()
    assert max(lengths) <= (size or 1400)
    assert running.stderr == ""


def test_ipv6(agent, config):
    try:
        sock, address = bound(socket.AF_INET6, "::1")
    except OSError:
        pytest.skip("no IPv6 loopback")
    running = agent("agent", "-c", config(sink(address)))
    assert sock.recv(65536)
    assert running.end() == 0
    sock.close()


def test_nobody_listens(agent, config, tmp_path, wait_until):
    """Said once; the other sink misses nothing; the agent ends in time."""
    here = tmp_path / "here.json"
    running = agent("agent", "-c", config(sink(free_address()), local(here)))
    wait_until(lambda: any(row["sequence"] >= 50 for row in objects(here)[-20:]))
    assert running.end(timeout=5) == 0
    assert running.stderr.count("nobody listens there") == 1
    numbers = {row["sequence"] for row in objects(here)}
    assert numbers == set(range(1, max(numbers) + 1))


def test_a_receiver_that_starts_later_learns_the_tables(agent, config, tmp_path, wait_until):
    """The sender repeats its tables; SIGHUP makes it begin with them."""
    address = free_address()
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    sender = agent("agent", "-c", config(sink(address), local(here)))
    wait_until(lambda: any(row["sequence"] >= 5 for row in objects(here)))
    receiver = agent("receive", "--listen", address, f"--json={there}")
    wait_until(lambda: any(row["host"] == "web1" and row["table"] == "psi" for row in objects(there)), timeout=60)
    sent = {essence(row) for row in objects(here)}
    assert sender.end() == 0 and receiver.end() == 0
    sent = {essence(row) for row in objects(here)}
    assert {essence(row) for row in objects(there) if row["host"] == "web1"} <= sent


def test_strangers_are_counted_and_nothing_else(agent, tmp_path, wait_until):
    """Datagrams that are not sonde's: refused, and the next good ones are taken."""
    address = free_address()
    there = tmp_path / "there.json"
    receiver = agent("receive", "--listen", address, f"--json={there}")
    wait_until(there.exists)
    host, port = address.split(":")
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for junk in (b"", b"\0", b"counter:1|c\n", b"\x04\x22\x4d\x18" + bytes(100), b"\xdd\xff\xff\xff\xff" * 200, bytes(65507)):
        sock.sendto(junk, (host, int(port)))
    assert receiver.running()
    assert receiver.end() == 0
    assert not [row for row in objects(there) if row["table"] == "psi"]


def test_receive_says_what_it_took(agent, sonde, tmp_path, wait_until):
    """The table self_source of its own stream has every datagram, those of the last moment too, beside the rows of others."""
    address = free_address()
    path = tmp_path / "fleet.sonde"
    receiver = agent("receive", "--listen", address, "-o", path)
    host, port = address.split(":")
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect((host, int(port)))

    def listens():
        """A datagram to a port where nobody listens is refused."""
        try:
            sock.send(b"")
            sock.send(b"")
        except ConnectionRefusedError:
            return False
        return True

    wait_until(listens)

    def last():
        rows = [json.loads(line) for line in sonde("cat", "--json", "-t", "self_source", path).stdout.splitlines()]
        return rows[-1]["values"] if rows else {"received": 0}

    wait_until(lambda: last()["received"])
    for number in range(20):
        sock.send(b"a stranger's %d" % number)
    assert receiver.end() == 0
    values = last()
    assert 22 <= values["received"] == values["refused"]
    assert values["datagrams"] == 0


def test_only_allowed_senders(agent, config, tmp_path, wait_until):
    address = free_address()
    there, here = tmp_path / "there.json", tmp_path / "here.json"
    allow = tmp_path / "receive.ini"
    allow.write_text(f"[source:udp]\nlisten = {address}\nallow = 192.0.2.0/24\nallow = 2001:db8::/32\n{local(there)}")
    receiver = agent("agent", "-c", allow)
    sender = agent("agent", "-c", config(sink(address), local(here)))
    wait_until(lambda: "outside of `allow`" in receiver.stderr)
    wait_until(lambda: any(row["sequence"] >= 20 for row in objects(here)))
    assert sender.end() == 0 and receiver.end() == 0
    assert not [row for row in objects(there) if row["host"] == "web1"]


@pytest.mark.parametrize(
    "text, said",
    [
        ("[sink:udp]\naddress = 127.0.0.1\n", "it is not HOST:PORT"),
        ("[sink:udp]\naddress = ::1:8125\n", "it is not HOST:PORT"),
        ("[sink:udp]\n", "address"),
        ("[sink:udp]\naddress = 127.0.0.1:8125\nsize = 100KiB\n", "size"),
        ("[sink:udp]\naddress = 127.0.0.1:8125\ninterface = nosuch0\n", "nosuch0"),
        ("[source:udp]\nlisten = 192.0.2.1:8125\n[sink:stdout]\n", "192.0.2.1:8125"),
        ("[source:udp]\nlisten = 127.0.0.1:0\nallow = 10.0.0.0/40\n[sink:stdout]\n", "10.0.0.0/40"),
    ],
)
def test_mistakes_are_said_at_the_start(sonde, config, text, said):
    done = sonde("agent", "-c", config(text), timeout=20)
    assert done.returncode == 1 and said in done.stderr


def test_self_tells_what_a_source_lost(agent, config, tmp_path, wait_until):
    """A relay keeps one datagram for itself, sends one twice and two in the wrong order; a stranger sends what is not sonde's."""
    relay, to_relay = bound()
    there = free_address()
    out = tmp_path / "there.json"
    listen = tmp_path / "listen.ini"
    listen.write_text(f"[agent]\ninterval = 50ms\n[source:udp]\nlisten = {there}\n[self]\n[sink:stdout]\n"
                      f"path = {out}\nflush = 0s\ntables = self_source\n")
    receiver = agent("agent", "-c", listen)
    wait_until(lambda: objects(out))
    sender = agent("agent", "-c", config(sink(to_relay)))
    host, port = there.rsplit(":", 1)
    address = (host, int(port))
    datagrams = [relay.recv(65536) for _ in range(40)]
    sender.end()
    for i in (*range(10), *range(11, 20), 19, *range(20, 30), 31, 30, *range(32, 40)):
        relay.sendto(datagrams[i], address)
    relay.sendto(b"a stranger's", address)

    def told():
        return objects(out)[-1]["values"]

    wait_until(lambda: told()["received"] == 41)
    assert objects(out)[-1]["keys"]["source"] == "source:udp"
    values = told()
    # What came of the others depends on which of them were tables.
    expected = {"received": 41, "refused": 1, "senders": 1, "datagrams": 40, "lost": 1, "reordered": 1, "duplicates": 1,
                "malformed": 0}
    assert {key: values[key] for key in expected} == expected
    assert receiver.end() == 0
    relay.close()
