"""Datagrams of strangers: cut, turned over, sent again, made up, of ten thousand senders. What is taken was sent, the rest is
counted, and memory stays bounded. (Hostile msgpack and LZ4: tests/unit/datagram_hostile_test.c.)

Cases of the corpus: 154, 161, 182, 183 and 189, over the loopback.
"""

import json
import random
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest

from captured import configuration, make_tree
from live import sanitized

msgpack = pytest.importorskip("msgpack")
frames = pytest.importorskip("lz4.frame")


@pytest.fixture(scope="module")
def sent(build, tmp_path_factory):
    """([datagrams of a real sender], {what it sent})."""
    folder = tmp_path_factory.mktemp("sender")
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    sock.bind(("127.0.0.1", 0))
    config, here = folder / "a.ini", folder / "here.json"
    sinks = (f"[sink:udp]\naddress = 127.0.0.1:{sock.getsockname()[1]}\nflush = 0s\n",
             f"[sink:stdout]\npath = {here}\nflush = 0s\n")
    config.write_text(configuration(make_tree(folder / "tree"), *sinks))
    done = subprocess.run([build / "sonde", "agent", "-c", config, "--max-frames", "30"], timeout=60)
    assert done.returncode == 0
    sock.setblocking(False)
    datagrams = []
    while True:
        try:
            datagrams.append(sock.recv(65536))
        except BlockingIOError:
            break
    sock.close()
    return datagrams, {essence(json.loads(line)) for line in here.read_text().splitlines()}


def essence(row):
    return (row["sequence"], row["table"], json.dumps(row["keys"]), json.dumps(row["values"]))


class Receiver:
    """sonde agent with [source:udp] and [self], its rows in a file."""

    def __init__(self, agent, folder, wait_until):
        probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        probe.bind(("127.0.0.1", 0))
        self.address = probe.getsockname()
        probe.close()
        self.path = folder / "there.json"
        config = folder / "receive.ini"
        config.write_text(f"[agent]\nhost = receiver\ninterval = 50ms\n[self]\n[source:udp]\nlisten = 127.0.0.1:{self.address[1]}\n"
                          f"[sink:stdout]\npath = {self.path}\nflush = 0s\nring = 16MiB\n")
        self.running = agent("agent", "-c", config)
        self.wait_until = wait_until
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        wait_until(lambda: self.own())

    def rows(self):
        lines = self.path.read_text().splitlines(keepends=True) if self.path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def own(self):
        """What it says of its source by now."""
        return [row["values"] for row in self.rows() if row["host"] == "receiver" and row["table"] == "self_source"]

    def send(self, datagrams):
        """All of them, no faster than it reads."""
        for i, datagram in enumerate(datagrams):
            self.socket.sendto(datagram, self.address)
            if i % 50 == 49:
                time.sleep(0.002)

    def taken(self):
        """Rows of others, without what a receiver says of its own of what was lost."""
        return [row for row in self.rows() if row["host"] != "receiver" and row["table"] != "gap"]

    def peak(self):
        """KiB of memory at most (proc(5), VmHWM)."""
        return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.running.pid}/status").read_text()).group(1))

    def end(self):
        self.socket.close()
        assert self.running.end(timeout=20) == 0


@pytest.fixture
def receiver(agent, tmp_path, wait_until):
    return Receiver(agent, tmp_path, wait_until)


def damaged(datagrams, rng):
    """Noise, cut ones, ones with a bit turned over, oversized ones."""
    for datagram in datagrams:
        yield rng.randbytes(rng.randrange(1500))
        yield datagram[: rng.randrange(len(datagram))]
        wrong = bytearray(datagram)
        wrong[rng.randrange(len(wrong))] ^= 1 << rng.randrange(8)
        yield bytes(wrong)
        yield (datagram * 50)[:65507]


def test_damaged_repeated_and_out_of_order(receiver, sent, wait_until):
    """Beside all of it the good ones come, each three times and in another order: every row is taken once, and no other."""
    datagrams, rows = sent
    rng = random.Random(1)
    mixed = datagrams[:5]  # definitions first, so that nothing has to wait for them
    rest = 3 * datagrams + list(damaged(datagrams, rng))
    near = sorted(range(len(rest)), key=lambda i: i % len(datagrams) + rng.random() * 4)
    receiver.send(mixed + [rest[i] for i in near])
    wait_until(lambda: any(row["table"] == "end" for row in receiver.taken()), timeout=30)
    taken = [essence(row) for row in receiver.taken()]
    assert set(taken) <= rows
    assert len(taken) == len(set(taken))
    # An instant of which a part comes behind a newer one is late; how many are goes by the dice.
    assert len(taken) > len(rows) * 0.75
    wait_until(lambda: (own := receiver.own()[-1])["refused"] > len(datagrams) and own["duplicates"] >= len(datagrams)
               and own["reordered"] > 0)
    receiver.end()


def remade(datagram, stream, number=None):
    """The datagram as another sender's (docs/format.md, Datagrams)."""
    unpacker = msgpack.Unpacker(strict_map_key=False)
    unpacker.feed(frames.decompress(datagram))
    objects = list(unpacker)
    assert objects[0] == [6] and objects[1][0] == 5
    objects[1][2] = stream
    if number is not None:
        objects[1][3] = number
    content = b"".join(msgpack.packb(one) for one in objects)
    lz4 = frames.LZ4FrameCompressor(block_size=frames.BLOCKSIZE_MAX256KB, block_linked=True, content_checksum=True,
                                    block_checksum=True)
    return lz4.begin() + lz4.compress(content) + lz4.flush()


def test_a_remade_datagram_is_one(receiver, sent, wait_until):
    """What the next test sends is taken for what it says: all rows come again from another sender."""
    datagrams, rows = sent
    receiver.send([remade(datagram, 77) for datagram in datagrams])
    wait_until(lambda: any(row["table"] == "end" for row in receiver.taken()), timeout=30)
    assert {essence(row) for row in receiver.taken()} == rows
    receiver.end()


@pytest.mark.limit(100)
def test_ten_thousand_senders(receiver, build, sent, wait_until):
    """Each with definitions and a part of an instant that never gets whole; then an honest one, which is heard."""
    datagrams, rows = sent
    first = [datagram for datagram in datagrams[:8]]
    receiver.send(remade(first[i % len(first)], 1000 + i // 2, number=i % 7) for i in range(20_000))
    early = receiver.peak()
    receiver.send(remade(first[i % len(first)], 10**6 + i // 2, number=i % 7) for i in range(20_000))
    assert receiver.running.running()
    assert receiver.peak() < early + (8 << 10) or sanitized(build)
    assert receiver.peak() < 128 << 10 or sanitized(build)
    before = len(receiver.taken())
    receiver.send(datagrams)
    wait_until(lambda: any(row["table"] == "end" for row in receiver.taken()[before:]), timeout=30)
    assert {essence(row) for row in receiver.taken()[before:]} >= rows
    receiver.end()
