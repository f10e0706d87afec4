"""The API server of a lab without nodes, for the tests of verbs."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import lab_with
from tests.unit.plugins.verbs import Verbs

_NUMBERS = itertools.count()


@pytest.fixture(scope="session", name="kubeconfig")
def _kubeconfig() -> Iterator[Path]:
    with lab_with("PERF_TEST_API", f"tests-api-{os.getpid()}", "--nodes", "0") as lab:
        yield lab.kubeconfig


@pytest.fixture
def verbs(kubeconfig: Path, tmp_path: Path) -> Verbs:
    """Return the verbs of a new command on that cluster."""
    return Verbs(kubeconfig, tmp_path)


@pytest.fixture
def namespace(verbs: Verbs) -> str:
    """Return the name of a new namespace."""
    name = f"verbs-{os.getpid()}-{next(_NUMBERS)}"
    verbs("apply", definition=[{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}])
    return name
