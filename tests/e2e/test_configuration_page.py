"""docs/configuration.md has every key of the host and of every plugin, with its default."""

import re

from compiling import ROOT

PAGE = (ROOT / "docs" / "configuration.md").read_text()


def chapter(title):
    match = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    assert match, f"docs/configuration.md has no chapter {title}"
    return match.group(1)


def keys(text, of):
    """[(key, default), ...] as `sonde plugins` prints them."""
    match = re.search(rf"^keys of {re.escape(of)}:\n((?:  .*\n)*)", text, re.M)
    assert match, of
    lines = [line for line in match.group(1).splitlines() if line != "  none of its own"]
    found = [re.match(r"^  (\w+) = (.*?) {2,}\S", line) for line in lines]
    assert all(found), lines
    return [(m.group(1), m.group(2).strip()) for m in found]


def stands(title, key, default):
    cell = "required" if default == "(required)" else f"`{default}`" if default else ""
    row = rf"^\| `{key}` \| {re.escape(cell)} \| "
    return re.search(row, chapter(title), re.M)


def test_agent(sonde):
    found = keys(sonde("plugins", "agent").stdout, "[agent]")
    assert len(found) > 5
    assert [k for k, d in found if not stands("[agent]", k, d)] == []


def test_every_plugin(sonde):
    missing, kinds = [], set()
    for line in sonde("plugins").stdout.splitlines():
        kind, name = line.split()[:2]
        text = sonde("plugins", f"{kind}:{name}").stdout
        section = f"[{name}]" if kind == "collector" else f"[{kind}:{name}]"
        missing += [(section, k, d) for k, d in keys(text, section) if not stands(section, k, d)]
        kinds.add(kind)
        missing += [(kind, k, d) for k, d in keys(text, f"any {kind}") if not stands(f"Any {kind}", k, d)]
    assert missing == []
    assert kinds == {"collector", "sink", "analyzer", "source"}
