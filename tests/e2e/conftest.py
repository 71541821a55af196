"""What the end-to-end tests share: the built sonde, programs in the background, the shared cases, a limit on every test.

SONDE_BUILD names the build folder (default: build), SONDE_SHARED the folder with cases and captures (default: ../shared).
"""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SONDE_BUILD", ROOT / "build")).resolve()
TEST_SECONDS = 120


def pytest_configure(config):
    config.addinivalue_line("markers", f"limit(seconds): a test's own time limit, {TEST_SECONDS} s without")


@pytest.fixture(autouse=True)
def time_limit(request):
    """No test may hang: it fails where it stands when its time is over."""
    marker = request.node.get_closest_marker("limit")
    seconds = marker.args[0] if marker else TEST_SECONDS

    def over(signum, frame):
        pytest.fail(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def root():
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def build():
    """The build folder: sonde, plugins/, tests/."""
    assert (BUILD / "sonde").exists(), f"{BUILD}/sonde is not there: make first"
    return BUILD


@pytest.fixture(scope="session")
def shared():
    """The folder with cases and captures that are not part of the repository; tests that need it are skipped without it."""
    path = Path(os.environ.get("SONDE_SHARED", ROOT.parent / "shared"))
    if not path.is_dir():
        pytest.skip(f"no cases and captures: {path} is not there (SONDE_SHARED names another place)")
    return path


@pytest.fixture(scope="session")
def sonde(build):
    """sonde(*args) runs build/sonde to its end and returns subprocess.CompletedProcess, output as text.

    timeout= in seconds, and whatever subprocess.run() takes: input=, env=, cwd=, text=False for bytes, check=True.
    """

    def run(*args, timeout=60, **options):
        options.setdefault("text", True)
        if options["text"]:
            options.setdefault("errors", "surrogateescape")
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.run([str(build / "sonde"), *map(str, args)], timeout=timeout, **options)

    return run


@pytest.fixture
def open_folder(tmp_path):
    """A folder in which any user may work, below a path that any user may walk; as an ordinary user one's own."""
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o777)
    for folder in [tmp_path, *tmp_path.parents] if os.getuid() == 0 else []:
        folder.chmod(folder.stat().st_mode | 0o055)
    return place


@pytest.fixture
def profile(sonde, open_folder):
    """profile(*command) -> what `sonde profile` returned, and the recording; user= runs it as another one."""

    def run(*command, user=None, options=()):
        if user and os.getuid():
            pytest.skip("only root can become another user")
        path = open_folder / "p.sonde"
        done = sonde("profile", "-q", *options, "-o", path, "--", *command, user=user, cwd=open_folder)
        return done, path

    return run


@pytest.fixture
def wait_until():
    """wait_until(condition, timeout=10) polls until condition() is true and returns what it returned; else fails."""

    def wait(condition, timeout=10, step=0.01):
        end = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                pytest.fail(f"not so within {timeout} s: {getattr(condition, '__doc__', None) or condition}")
            time.sleep(step)

    return wait


@pytest.fixture
def cgroup():
    """cgroup(mount, name) makes one; all are removed in the end, with what runs in them ended before."""
    made = []

    def make(mount, name):
        if mount is None:
            pytest.skip("no cgroups of this kind are mounted here")
        path = mount / f"sonde-test-{os.getpid()}" / name
        for each in [*reversed(path.relative_to(mount).parents), path.relative_to(mount)][1:]:
            each = mount / each
            try:
                each.mkdir()
                made.append(each)
            except FileExistsError:
                pass
            except OSError as error:
                pytest.skip(f"no cgroup can be made in {mount}: {error.strerror}")
        return path

    yield make
    for each in reversed(made):
        for _ in range(100):
            try:
                each.rmdir()
                break
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.05)


@pytest.fixture
def caught_up(sonde, wait_until):
    """caught_up(path, table) waits until the recording holds rows of this table from an instant that began after the call."""

    def wait(path, table):
        moment = time.time_ns()

        def found():
            rows = [json.loads(line) for line in sonde("cat", "--json", "-t", table, path).stdout.splitlines()]
            return rows and rows[-1]["time"] > moment

        wait_until(found, timeout=30)

    return wait


class Background:
    """A program in the background; its output goes to files, so that it never blocks on us."""

    def __init__(self, command, folder, number, **options):
        self.stdout_path = folder / f"background-{number}.stdout"
        self.stderr_path = folder / f"background-{number}.stderr"
        options.setdefault("stdin", subprocess.DEVNULL)
        with open(self.stdout_path, "wb") as out, open(self.stderr_path, "wb") as err:
            options.setdefault("stdout", out)
            options.setdefault("stderr", err)
            self.process = subprocess.Popen([str(word) for word in command], **options)

    @property
    def pid(self):
        return self.process.pid

    @property
    def stdout(self):
        return self.stdout_path.read_text(errors="surrogateescape")

    @property
    def stderr(self):
        return self.stderr_path.read_text(errors="surrogateescape")

    def running(self):
        return self.process.poll() is None

    def send(self, number):
        """Sends it a signal."""
        self.process.send_signal(number)

    def wait(self, timeout=10):
        """Its exit status; a test that waits longer fails."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            pytest.fail(f"still running after {timeout} s: {self.process.args}\n{self.stderr}")

    def end(self, number=signal.SIGTERM, timeout=10):
        """Asks it to end, waits, returns its exit status."""
        if self.running():
            self.send(number)
        return self.wait(timeout)


@pytest.fixture
def background(tmp_path):
    """background(*command) starts a program; whatever still runs after the test is ended, by its pid."""
    started = []

    def start(*command, **options):
        started.append(Background(command, tmp_path, len(started), **options))
        return started[-1]

    yield start
    for each in started:
        if each.running():
            each.process.kill()
        each.process.wait()


@pytest.fixture
def agent(build, background):
    """agent(*args) starts `sonde *args` in the background: agent("agent", "-c", path), agent("receive", ...)."""
    return lambda *args, **options: background(build / "sonde", *args, **options)
