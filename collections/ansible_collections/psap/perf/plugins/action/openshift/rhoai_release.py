# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query, query_from
from ansible_collections.psap.perf.plugins.module_utils.openshift.operator_packages import PackageRequest
from ansible_collections.psap.perf.plugins.module_utils.openshift.releases import (
    Needs,
    Release,
    check_release,
    installed_release,
    offered_release,
)
from ansible_collections.psap.perf.plugins.modules.openshift.rhoai_release import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_CATALOGS_NAMESPACE = "openshift-marketplace"


@dataclass(frozen=True, slots=True)
class Arguments:
    prepares: bool
    opendatahub: bool
    channel: str
    version: str
    tag: str
    generations: tuple[int, ...]
    reason: str
    components: tuple[str, ...]


class ActionModule(PerfAction):
    """Find the release."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the Subscriptions and, without one of the product, its package."""
        args, cluster = context.arguments(Arguments), context.cluster()
        subscriptions = query_from({"kind": "Subscription"})
        release = Release()
        if cluster.serves(subscriptions.api_version, subscriptions.kind):
            installed = installed_release(cluster.visible(subscriptions))
            release = installed or (_read_offered_release(cluster, args) if args.prepares else release)
        check_release(release, Needs(args.generations, args.reason, args.components))
        found = {"generation": release.generation, "version": release.version}
        return VerbResult(values={**found, "run_facts": {"rhoai": found}} if release.version else found)


def _read_offered_release(cluster: Cluster, args: Arguments) -> Release:
    name = "opendatahub-operator" if args.opendatahub else "rhods-operator"
    catalog = "community-operators" if args.opendatahub else "redhat-operators"
    query = query_from(
        {
            "kind": "PackageManifest",
            "namespace": _CATALOGS_NAMESPACE,
            "name": name,
            "label_selector": f"catalog={catalog},catalog-namespace={_CATALOGS_NAMESPACE}",
        }
    )
    package = None if args.tag else _first(cluster, query)
    return offered_release(name, package, PackageRequest(args.channel, args.version), args.tag)


def _first(cluster: Cluster, query: Query) -> Manifest | None:
    """Return the first object of *query*; None if the user cannot read it, which the check of rights reports."""
    if not cluster.serves(query.api_version, query.kind):
        return None
    return next(iter(cluster.visible(query)), None)
