"""What tests of the running agent and of the verbs that read recordings share."""

import json


def rows(text, *tables):
    """Rows of whole JSON lines, of these tables."""
    found = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return [row for row in found if not tables or row["table"] in tables]


def law(row):
    """produced = delivered + dropped + replaced + queued, of one row of self_sink."""
    v = row["values"]
    return v["produced"] == v["delivered"] + v["dropped"] + v["replaced"] + v["queued"]


def sanitized(build):
    """Whether sonde was built with a sanitizer: its memory, threads, start and crashes are not sonde's then."""
    program = (build / "sonde").read_bytes()
    return b"__asan_init" in program or b"__tsan_init" in program


def document(sonde, verb, path):
    """What this verb has to say of a recording, as JSON."""
    done = sonde(verb, "--json", path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)
