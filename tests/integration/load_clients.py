"""Clients of the tests in place of load generators, for flows that serve models."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.integration.conftest import PROJECT

LLM_LOAD_TEST = {
    "kserve_load_generator": "llm-load-test",
    "kserve_load_test_path": str(PROJECT / "tests/standins/load_generators/llm_load_test"),
    "kserve_load_test_python": sys.executable,
}
"""Settings of the flow kserve."""


def guidellm(folder: Path) -> str:
    """Write a guidellm into *folder*; return the value of llm_d_guidellm_program."""
    program = folder / "guidellm"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} {PROJECT / "tests/standins/load_generators/guidellm/guidellm.py"} "$@"\n'
    )
    program.chmod(0o755)
    return str(program)
