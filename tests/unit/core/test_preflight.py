"""What is said of a cluster that lacks what a run needs."""

from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.action.preflight import lacking

MACHINE_SETS = ("machine.openshift.io/v1beta1", "MachineSet")
JOBS = ("kubeflow.org/v1", "PyTorchJob")
POLICIES = ("kuadrant.io/v1", "AuthPolicy")
INSTALL = "install what defines it"


@pytest.mark.parametrize(
    ("missing", "is_openshift", "advice"),
    [
        ({MACHINE_SETS: INSTALL}, False, "it is no OpenShift, which this needs"),
        ({MACHINE_SETS: INSTALL}, True, INSTALL),
        ({JOBS: INSTALL}, False, INSTALL),
        ({MACHINE_SETS: INSTALL, JOBS: INSTALL}, False, INSTALL),
        ({JOBS: INSTALL, POLICIES: "install Kuadrant"}, False, f"{INSTALL}; install Kuadrant"),
    ],
)
def test_the_advice_fits_what_is_missing(missing: dict[tuple[str, str], str], is_openshift: bool, advice: str) -> None:
    said = lacking("https://lab", missing, is_openshift=is_openshift)
    (version, kind), *_others = missing
    assert said.startswith(f"the cluster at https://lab serves no {kind} ({version})")
    assert said.endswith(f"; {advice}")
