"""The Prometheus that a verb's arguments are about."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Address
from ansible_collections.psap.perf.plugins.module_utils.prometheus.location import MONITORING, Wanted, find
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext

AUTO, EXEC, API = "auto", "exec", "api"


def address_of(context: VerbContext) -> Address:
    """Where it is, by the arguments of the fragment ``prometheus``; its token is hidden in whatever the verb returns.

    :raises NoPrometheusError: when there is none.
    """
    args = context.args
    wanted = Wanted(
        url=args["url"],
        token=context.secret(args["token"]) if args["token"] else None,
        authority=args["authority"],
        service_account=args["service_account"],
        proxy=Access.from_variables(context.variables).proxy,
    )
    found = find(context.cluster, wanted)
    if found.token:
        context.redactor.add(found.token)
    return found


def way_of(via: str, address: Address | None, namespace: str) -> str:
    """``exec`` or ``api``.

    A Prometheus of OpenShift's serves no admin API; one that is given, or the lab's own, does. The lab's stands for
    that of its monitoring only: pods of another namespace are another one.
    """
    if via != AUTO:
        return via
    given = address is not None and address.origin == "as given"
    of_lab = address is not None and address.data is not None and namespace == MONITORING
    return API if given or of_lab else EXEC
