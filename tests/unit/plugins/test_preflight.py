"""The message about a cluster without the kinds that a run needs."""

from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.action.preflight import RequiredKind, missing_kinds, require_kinds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError

MACHINE_SETS = ("machine.openshift.io/v1beta1", "MachineSet")
JOBS = ("kubeflow.org/v1", "PyTorchJob")
POLICIES = ("kuadrant.io/v1", "AuthPolicy")
INSTALL = "install what defines it"


@pytest.mark.parametrize(
    ("missing", "is_openshift", "advice"),
    [
        ({MACHINE_SETS: INSTALL}, False, "this needs OpenShift, but the cluster is not"),
        ({MACHINE_SETS: INSTALL}, True, INSTALL),
        ({JOBS: INSTALL}, False, INSTALL),
        ({MACHINE_SETS: INSTALL, JOBS: INSTALL}, False, INSTALL),
        ({JOBS: INSTALL, POLICIES: "install Kuadrant"}, False, f"{INSTALL}; install Kuadrant"),
    ],
)
def test_advice_fits_the_missing_kind(missing: dict[tuple[str, str], str], is_openshift: bool, advice: str) -> None:
    message = missing_kinds("https://lab", missing, is_openshift=is_openshift)
    (version, kind), *_others = missing
    assert message.startswith(f"the cluster at https://lab serves no {kind} ({version})")
    assert message.endswith(f"; {advice}")


class Cluster:
    """A cluster that serves these kinds."""

    server = "https://lab"

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds

    def serves(self, api_version: str, kind: str) -> bool:
        return kind in self.kinds

    def is_openshift(self) -> bool:
        return False


def required_kinds(unless: str | None = None, served: str | None = None) -> list[RequiredKind]:
    return [RequiredKind("AuthPolicy", None, unless, served, "install Kuadrant")]


@pytest.mark.parametrize(
    ("requires", "kinds"),
    [
        (required_kinds(), ["AuthPolicy"]),
        (required_kinds(unless="Subscription"), ["Subscription"]),
        (required_kinds(served="DataScienceCluster"), []),
        (required_kinds(served="DataScienceCluster", unless="Subscription"), ["DataScienceCluster", "Subscription"]),
    ],
)
def test_present_or_unneeded_kinds_are_not_required(requires: list[RequiredKind], kinds: list[str]) -> None:
    require_kinds(requires, Cluster(*kinds))


@pytest.mark.parametrize(
    ("requires", "kinds"),
    [
        (required_kinds(), []),
        (required_kinds(unless="Subscription"), ["DataScienceCluster"]),
        (required_kinds(served="DataScienceCluster"), ["DataScienceCluster"]),
    ],
)
def test_missing_kind_is_refused_with_its_advice(requires: list[RequiredKind], kinds: list[str]) -> None:
    with pytest.raises(ClusterError, match=r"serves no AuthPolicy \(kuadrant.io\); install Kuadrant$"):
        require_kinds(requires, Cluster(*kinds))
