"""Make the collection importable under Ansible's name, without Ansible, and programs interruptible."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from perfdrv.collection import activate

from tests.demo_project import make_demo_project

PROJECT = Path(__file__).resolve().parent.parent
# programs and recordings, some of which have names like tests
collect_ignore = ["data", "standins"]

activate(PROJECT)
# a shell makes its background jobs ignore Ctrl-C, which programs inherit; tests send Ctrl-C to programs they start
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the project that the driver is tested with; tests must not change it."""
    return make_demo_project(tmp_path_factory.mktemp("demo"))
