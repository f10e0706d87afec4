"""The webhooks of OpenShift AI's operator: the conversion between v1 and v2 and the validation of DataScienceClusters.

Emulated: what generation 3 loses and removes when it converts, which of its versions refuse what, and that only one
DataScienceCluster is allowed; each after the operator's source, which `conversion` and `admission` name. OLM sets the
conversion of a definition on a cluster, and this emulator in a lab, as soon as the definition is there.

Not emulated: defaults that the operator's webhooks fill in, and that both webhooks fail while the operator is stopped:
the lab converts whether it runs or not, and validates while it runs.
"""

from __future__ import annotations

from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.operators.rhoai_webhooks.server import Webhooks


def controllers(cluster: Cluster) -> list[Webhooks | Controller]:
    """Return the server, and what points the definitions to it."""
    webhooks = Webhooks(cluster, Path.cwd())
    return [webhooks, webhooks.controller]
