"""Make the collection importable as Ansible names it, without Ansible, and programs interruptible."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from perfdrv.collection import activate

from tests.demo_project import make_demo_project

PROJECT = Path(__file__).resolve().parent.parent
# programs and recordings, of which some are named as tests are
collect_ignore = ["data", "standins"]

activate(PROJECT)
# a shell has its background jobs ignore Ctrl-C, and a program inherits that: tests send it to the ones that they start
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the project that the driver is tested with; not to be changed."""
    return make_demo_project(tmp_path_factory.mktemp("demo"))
