"""Documents that are made from the code are as the code is."""


def test_metrics_md_is_what_explain_prints(root, sonde):
    """`make docs` writes it anew."""
    printed = sonde("explain", "--markdown")
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout == (root / "docs/metrics.md").read_text()
