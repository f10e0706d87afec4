"""A lab for the flows that serve models on OpenShift; those on a lab of the profile kubernetes are in `lab`."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.integration.conftest import Lab, lab_with


@pytest.fixture(scope="package")
def modelmesh_lab() -> Iterator[Lab]:
    """A lab of the profile openshift with KServe, servers of its models, and an emulated ModelMesh, 2 nodes."""
    name = f"tests-modelmesh-{os.getpid()}"
    served = ("--with", "kserve", "--with", "models", "--emulate", "modelmesh")
    with lab_with("PERF_TEST_MODELMESH_LAB", name, "--profile", "openshift", *served, "--nodes", "2") as lab:
        yield lab
