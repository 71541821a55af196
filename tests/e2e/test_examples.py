"""docs/examples.md shows what sonde prints: of the recording that it speaks of, at the gate, and with what is ignored there."""


import pytest



@pytest.fixture
def page(root):
    return (root / "docs/examples.md").read_text()


def block(page, first):
    """The indented lines that begin with this one, without their indent."""
    lines = page[page.index("    " + first):].split("\n\n")[0].splitlines()
    return [line[4:] for line in lines]


def test_the_finding(sonde, root, page):
    report = sonde("report", root / "samples/rows.sonde", check=True).stdout
    shown = block(page, "warning   32719 involuntary")
    assert len(shown) == 6 and "\n".join(shown) in report
    assert "cpu.tree_share" in report and "CPU time                   2.55 s" in sonde("summary", root / "samples/rows.sonde").stdout


def test_the_gate(sonde, root, page, tmp_path):
    """Before, and with the ci.ini of the page."""
    (tmp_path / "ci.ini").write_text("\n".join(block(page, "[analyzer:cpu]")) + "\n")
    gate = ["report", "--fail-on", "warning", "-o", tmp_path / "report.txt"]
    for options in ([], ["-c", tmp_path / "ci.ini"]):
        done = sonde(*gate, *options, "rows.sonde", cwd=root / "samples")
        assert done.returncode == 3 and done.stderr.strip() in page
    assert "the runner is shared (until 2027-06-30)" in (tmp_path / "report.txt").read_text()
