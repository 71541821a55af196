"""What the tests of sonde import share."""

import json

import pytest


@pytest.fixture
def imported(sonde, tmp_path):
    """imported(tool, text, *options) is the rows of each table, (seconds since the first, keys, values); notes, the file: .notes, .path."""

    def run(tool, text, *options):
        source, run.path = tmp_path / "x.txt", tmp_path / "x.sonde"
        source.write_text(text)
        run.path.unlink(missing_ok=True)
        done = sonde("import", tool, *options, source, "-o", run.path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        tables = {}
        for line in sonde("cat", "--json", run.path, check=True).stdout.splitlines():
            row = json.loads(line)
            tables.setdefault(row["table"], []).append(((row["boottime"] - 10**9) / 1e9, row["keys"], row["values"]))
        run.notes = [values["text"] for _, _, values in tables.get("note", [])]
        return tables

    return run


@pytest.fixture
def refused(sonde):
    """refused(tool, text, *options) is the one line that says why."""

    def run(tool, text, *options):
        done = sonde("import", tool, *options, "-", "-o", "/dev/null", input=text)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and not done.stdout
        return done.stderr

    return run


def times(rows):
    return [time for time, _, _ in rows]


def column(rows, name):
    return [values.get(name) for _, _, values in rows]
