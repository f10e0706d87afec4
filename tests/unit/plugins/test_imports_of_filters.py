"""Filters load without the Kubernetes client and msgspec, as in the tests of ansible-doc."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
LOAD = """
import importlib, sys
sys.modules.update(kubernetes=None, msgspec=None)  # importing them fails
sys.path.insert(0, "collections")
for name in sys.argv[1:]:
    importlib.import_module(f"ansible_collections.psap.perf.plugins.filter.{name}")
"""


def test_filters_load_with_ansible_alone() -> None:
    names = [path.stem for path in (PROJECT / "collections/ansible_collections/psap/perf/plugins/filter").glob("*.py")]
    words = [sys.executable, "-c", LOAD, *names]
    loaded = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert names
    assert loaded.returncode == 0, loaded.stderr
