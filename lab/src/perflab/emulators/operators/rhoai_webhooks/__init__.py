"""The webhooks of OpenShift AI's operator: conversion between v1 and v2, and validation of DataScienceClusters.

Emulated: what generation 3 loses and removes during conversion, which of its versions refuse what, and that only one
DataScienceCluster is allowed; each after the operator's source, which `conversion` and `admission` name. OLM configures
the conversion of a definition on a cluster; in a lab, this emulator does, as soon as the definition exists.

Not emulated: defaults that the operator's webhooks set, and that both webhooks fail while the operator is stopped: the
lab always converts, and validates while the operator runs.
"""

from __future__ import annotations

from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.operators.rhoai_webhooks.server import Webhooks


def controllers(cluster: Cluster) -> list[Webhooks | Controller]:
    """Return the server, and the controller that registers it in the definitions."""
    webhooks = Webhooks(cluster, Path.cwd())
    return [webhooks, webhooks.controller]
