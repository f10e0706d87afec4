"""Make the collection importable as Ansible names it, without Ansible."""

from __future__ import annotations

from pathlib import Path

from perfdrv.collection import activate

PROJECT = Path(__file__).resolve().parent.parent

activate(PROJECT)
