"""Make the collection importable as Ansible names it, without Ansible, and programs interruptible."""

from __future__ import annotations

import signal
from pathlib import Path

from perfdrv.collection import activate

PROJECT = Path(__file__).resolve().parent.parent
# programs and recordings, of which some are named as tests are
collect_ignore = ["data", "standins"]

activate(PROJECT)
# a shell has its background jobs ignore Ctrl-C, and a program inherits that: tests send it to the ones that they start
signal.signal(signal.SIGINT, signal.default_int_handler)
