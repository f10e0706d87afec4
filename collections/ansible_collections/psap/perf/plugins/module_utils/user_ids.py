"""Whether OpenShift gives a namespace's pods their user ids, or whoever makes the pods has to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# where OpenShift's admission does not look at security context constraints
_PRIVILEGED = frozenset(("default", "kube-node-lease", "kube-public", "kube-system"))
_PRIVILEGED |= {"openshift", "openshift-infra", "openshift-node"}
_RUN_LEVEL = "openshift.io/run-level"


def assigned(name: str, namespace: Mapping[str, Any] | None) -> bool:
    """Whether pods of the namespace *name* of an OpenShift get a user id each when they ask for none.

    :param namespace: the object; None when it is not there yet, and will be an ordinary one.
    """
    labels = ((namespace or {}).get("metadata") or {}).get("labels") or {}
    return name not in _PRIVILEGED and labels.get(_RUN_LEVEL) not in ("0", "1")
