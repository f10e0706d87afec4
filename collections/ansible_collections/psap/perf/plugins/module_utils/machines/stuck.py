"""Why a MachineSet will not have its machines, which its own status does not say: one of them failed."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.cluster import Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.machines.leaving import failed
from ansible_collections.psap.perf.plugins.module_utils.observing import Source

API_VERSION = "machine.openshift.io/v1beta1"


def failed_machine(source: Source, machine_set: Manifest) -> str:
    """The first machine of *machine_set* that failed, and why; empty when none has.

    :raises ClusterError: when the cluster does not answer.
    """
    labels = machine_set["spec"]["selector"].get("matchLabels") or {}
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    machines, _version = source.list(
        Query(API_VERSION, "Machine", namespace=machine_set["metadata"]["namespace"], label_selector=selector)
    )
    for item in failed(machines):
        if not item["metadata"].get("deletionTimestamp"):
            status = item["status"]
            words = f"{status.get('errorReason', '')} {status.get('errorMessage', '')}".strip()
            return f"Machine {item['metadata']['name']} failed: {words}"
    return ""
