"""The controller of the lab's gateway, part of every lab with KServe: it configures Envoy, which proxies.

It follows GatewayClasses of the controller `lab.psap.perf/gateway`, their Gateways, HTTPRoutes, and their backends,
Services and InferencePools (`v1`). It writes `envoy/clusters.json` and `envoy/routes.json` in the lab's folder, which
Envoy reads whenever they change, and the statuses that a gateway controller writes.

All Gateways share one listener of Envoy, as with Envoy Gateway's `mergeGateways`, on the lab's port, not on their own
port is. Supported in a route: host names, paths (`Exact`, `PathPrefix`), methods, headers and query parameters
(`Exact`), `URLRewrite`, weights, `timeouts.request`. A route with another match or filter is refused
(`UnsupportedValue`).

Backends have the simulated servers of pods that declare a model, and pods of a real node at their own addresses.

In a lab with endpoint pickers, the picker of an InferencePool chooses the pod (picking.py). Otherwise this choice is
emulated, by the fewest requests in flight of the pods that decode, without the picker's caches and queues. Not
emulated: the requests from pods that decode to pods that prefill, TLS, references to other namespaces, other routes.
"""

from __future__ import annotations

from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.kubernetes.gateway.controller import Gateways


def controllers(cluster: Cluster) -> list[Controller]:
    """Return the only controller, which reconciles everything together."""
    return [Gateways(cluster, Path.cwd()).controller]
