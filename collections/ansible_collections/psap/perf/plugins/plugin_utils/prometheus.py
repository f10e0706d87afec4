"""The Prometheus of a verb's arguments."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Address
from ansible_collections.psap.perf.plugins.module_utils.prometheus.location import MONITORING, PrometheusOptions, find
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext

AUTO, EXEC, API = "auto", "exec", "api"


@dataclass(frozen=True, slots=True)
class PrometheusArguments:
    """Arguments for the address of a Prometheus and the access to it."""

    url: str
    token: str
    authority: str
    service_account: str


def address_of(context: VerbContext, args: PrometheusArguments) -> Address:
    """Return the address of the Prometheus; its token is hidden in the result of the verb.

    Raises:
        NoPrometheusError: If the cluster has none.
    """
    options = PrometheusOptions(
        url=args.url,
        token=context.secret(args.token) if args.token else None,
        authority=args.authority,
        service_account=args.service_account,
        proxy=Access.from_variables(context.variables).proxy,
    )
    found = find(context.cluster, options)
    if found.token:
        context.redactor.add(found.token)
    return found


def way_of(via: str, address: Address | None, namespace: str) -> str:
    """Return ``exec`` or ``api``.

    A Prometheus of OpenShift serves no admin API; one with a passed URL, or the lab's own, does. The lab's applies only
    to its monitoring namespace: pods of another namespace belong to another Prometheus.
    """
    if via != AUTO:
        return via
    given = address is not None and address.origin == "as given"
    of_lab = address is not None and address.data is not None and namespace == MONITORING
    return API if given or of_lab else EXEC
