"""The published files of a release, and an empty home that installs them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.polling import wait_until
from tests.programs import PROJECT

PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


def run(*words: str | Path, cwd: Path = PROJECT, environment: Mapping[str, str] | None = None) -> str:
    """Return the output of a program; if it fails, the error has the end of the output."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{words[0]} failed with {done.returncode}:\n{done.stdout[-4000:]}"
    return done.stdout


@dataclass(frozen=True, slots=True)
class Published:
    """The files that PyPI and Galaxy get."""

    wheel: Path
    tarball: Path

    @property
    def version(self) -> str:
        return self.wheel.name.split("-")[1]


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """Build the wheel and the collection as `make release` does."""
    dist = tmp_path_factory.mktemp("dist")
    copy = tmp_path_factory.mktemp("copy")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", dist, PROJECT)
    run("sh", "tests/scripts/copy_collection.sh", copy)
    collection = copy / "ansible_collections/psap/perf"
    run(Path(sys.executable).with_name("ansible-galaxy"), "collection", "build", "--output-path", dist, collection)
    (wheel,), (tarball,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    return Published(wheel, tarball)


@dataclass(frozen=True, slots=True)
class Home:
    """A user's empty home with a Python environment, where this repository is on no path."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "env/bin/python"

    def run(self, *words: str | Path, cwd: Path | None = None) -> str:
        """Return the output of a program of the environment; the cache has the lab's programs."""
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        places = {"HOME": str(self.folder), "XDG_CACHE_HOME": cache, "XDG_STATE_HOME": str(self.folder / "state")}
        path = f"{self.python.parent}:{PATH}"
        environment = {**kept, **places, "PATH": path, "LANG": "C.UTF-8", "PERF_LAB": "registries"}
        return run(*words, cwd=cwd or self.folder, environment=environment)

    def install(self, *words: str | Path) -> None:
        """Install Python packages, at the tested versions except for psap-perf itself."""
        lines = (PROJECT / "requirements/constraints.txt").read_text().splitlines(keepends=True)
        constraints = self.folder / "constraints.txt"
        constraints.write_text("".join(line for line in lines if not line.startswith("ansible==")))
        self.run(self.python, "-m", "pip", "install", "--quiet", "--constraint", constraints, *words)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    run(sys.executable, "-m", "venv", tmp_path / "env")
    return Home(tmp_path)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server(address: str, *words: str | Path) -> Iterator[None]:
    """Run a server until the block ends; the block begins when it answers at *address*."""

    def answers() -> bool:
        try:
            return bool(urllib.request.urlopen(address, timeout=10).status)
        except OSError:
            return False

    # no pipe: once a pipe is full, a server that logs stops
    process = subprocess.Popen([str(word) for word in words], text=True)
    try:
        wait_until(answers, during=process)
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def lab(home: Home, *options: str) -> Iterator[None]:
    """Run a lab of two simulated nodes until the block ends."""
    home.run("perflab", "up", "--name", "registries", "--nodes", "2", *options)
    try:
        yield
    finally:
        home.run("perflab", "down", "--name", "registries")
