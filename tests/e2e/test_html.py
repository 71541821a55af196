"""sonde report --html: the document inside the page is the JSON report, whatever stands in it. How the page looks and works is
told by `make check-browser`; here it is one of a few words, beside a copy of the sink."""

import json
import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest

PAGE = '<!DOCTYPE html><title>a page</title><script type="application/json" id="document">@DOCUMENT@</script><p>its end</p>'
HOSTILE = b"</script><img x"
LABEL = "<!-- <script> </SCRIPT \u2028 \u202e @DOCUMENT@ \\u003c"

# Its name is its first argument (prctl(2), PR_SET_NAME); it touches new memory all the time.
PROGRAM = """
import ctypes, mmap, os, sys
ctypes.CDLL(None).prctl(15, os.fsencode(sys.argv[1]), 0, 0, 0)
print("named", flush=True)
while True:
    with mmap.mmap(-1, 1 << 16) as area:
        area.write(bytes(1 << 16))
"""


@pytest.fixture(scope="module")
def place(build, tmp_path_factory):
    """A folder as that of a build: the sink, and beside it the folder of pages."""
    folder = tmp_path_factory.mktemp("html")
    (folder / "plugins").mkdir()
    (folder / "web").mkdir()
    shutil.copy(build / "plugins/sink-report.so", folder / "plugins")
    return folder


@pytest.fixture
def page(place):
    """The page that documents are put into."""
    path = place / "web/report.html"
    path.write_text(PAGE)
    return path


@pytest.fixture(scope="module")
def recording(sonde, tmp_path_factory):
    """Of a process with a name that would end the element which it stands in."""
    path = tmp_path_factory.mktemp("hostile") / "a.sonde"
    child = subprocess.Popen([sys.executable, "-S", "-c", PROGRAM, HOSTILE], stdout=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"named\n"
        sonde("record", "-q", "-i", "100ms", "-d", "3", "-p", child.pid, "--label", LABEL, "-o", path, check=True)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    return path


@pytest.fixture
def report(sonde, place, recording, tmp_path):
    """report(option, ...) of that recording, with a finding about the process on any machine."""
    config = tmp_path / "strict.ini"
    config.write_text("[analyzer:memory]\nminor_faults = 1\n")

    def run(*options):
        return sonde("report", "-c", config, *options, recording, env={**os.environ, "SONDE_PLUGIN_PATH": place / "plugins"})

    return run


class Elements(HTMLParser):
    """Every element, and the text of the one whose id is `document`."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.document, self.inside = [], "", False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = dict(attrs).get("id") == "document"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        self.document += data if self.inside else ""


def test_the_document_in_the_page_is_the_json_report(report, page):
    html, expected = report("--html"), report("--json")
    assert (html.returncode, html.stderr) == (0, "")
    elements = Elements(html.stdout)
    assert elements.tags == ["title", "script", "p"]
    document = json.loads(elements.document)
    assert document == json.loads(expected.stdout)
    assert document["meta"]["label"] == LABEL
    assert any(HOSTILE.decode() in finding["about"] for finding in document["findings"])
    # In between there is nothing that markup is made of, and before and behind it the page as it was.
    assert "<" not in elements.document and "\u2028" not in elements.document
    assert html.stdout.startswith(PAGE.split("@DOCUMENT@")[0]) and html.stdout.endswith(PAGE.split("@DOCUMENT@")[1])


def test_into_a_file_beside_other_documents(report, page, tmp_path):
    html, data = tmp_path / "a.html", tmp_path / "a.json"
    done = report(f"--html={html}", f"--json={data}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads(Elements(html.read_text()).document) == json.loads(data.read_text())
    assert report("--html", "--json").returncode == 2


@pytest.mark.parametrize("text, reason", [(None, "is not there"), ("", "no place for a document"), ("<p>", "no place for a document")])
def test_without_the_page_one_line_says_how_to_get_it(report, page, tmp_path, text, reason):
    page.unlink()
    if text is not None:
        page.write_text(text)
    html = tmp_path / "a.html"
    done = report(f"--html={html}")
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "report.html" in done.stderr and reason in done.stderr and "`make web`" in done.stderr
    assert not html.exists()
    # Other documents need no page.
    assert report("--md").returncode == 0


def test_of_a_command(sonde, place, page, tmp_path):
    html = tmp_path / "a.html"
    done = sonde("profile", "-q", "-o", tmp_path / "a.sonde", f"--html={html}", "--", "true",
                 env={**os.environ, "SONDE_PLUGIN_PATH": place / "plugins"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    document = json.loads(Elements(html.read_text()).document)
    assert document["meta"]["document"] == "sonde report" and document["window"]["instants"] >= 2
