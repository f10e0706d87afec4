"""What is said of a cluster that lacks what a run needs."""

from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.action.preflight import lacking

MACHINE_SETS = ("machine.openshift.io/v1beta1", "MachineSet")
JOBS = ("kubeflow.org/v1", "PyTorchJob")


@pytest.mark.parametrize(
    ("missing", "is_openshift", "advice"),
    [
        ([MACHINE_SETS], False, "it is no OpenShift, which this needs"),
        ([MACHINE_SETS], True, "install what defines it"),
        ([JOBS], False, "install what defines it"),
        ([MACHINE_SETS, JOBS], False, "install what defines it"),
    ],
)
def test_the_advice_fits_what_is_missing(missing: list[tuple[str, str]], is_openshift: bool, advice: str) -> None:
    said = lacking("https://lab", missing, is_openshift=is_openshift)
    assert said.startswith(f"the cluster at https://lab serves no {missing[0][1]} ({missing[0][0]})")
    assert said.endswith(f"; {advice}")
