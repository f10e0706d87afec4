"""A lab for the flows that serve models on OpenShift; the tests in `lab` use one of the profile kubernetes."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.integration.conftest import Lab, lab_with


@pytest.fixture(scope="package")
def modelmesh_lab() -> Iterator[Lab]:
    """Start a lab of the profile openshift with KServe, model servers and an emulated ModelMesh, 2 nodes."""
    name = f"tests-modelmesh-{os.getpid()}"
    served = ("--with", "kserve", "--with", "models", "--emulate", "modelmesh")
    with lab_with("PERF_TEST_MODELMESH_LAB", name, "--profile", "openshift", *served, "--nodes", "2") as lab:
        yield lab
