# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.openshift.pull_secrets import (
    added_registries,
    credentials_in,
    with_credentials,
    without_credentials,
)
from ansible_collections.psap.perf.plugins.modules.openshift.pull_secret import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_QUERY = Query("v1", "Secret", namespace="openshift-config", name="pull-secret")


@dataclass(frozen=True, slots=True)
class Arguments:
    credentials: str
    state: Literal["present", "absent"]


class ActionModule(PerfAction):
    """Change the pull secret of an OpenShift."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the Secret, and change the credentials that differ."""
        args = context.arguments(Arguments)
        cluster = context.cluster()
        secret = cluster.get(_QUERY)
        if args.state == "absent":
            change = without_credentials(secret) if secret else None
            registries = added_registries(secret) if secret else []
        else:
            change, registries = _change_to_add(context, args.credentials, secret)
        if change is not None and not context.check_mode:
            cluster.merge(_QUERY, change)
        return VerbResult(change is not None, {"registries": registries})


def _change_to_add(context: VerbContext, reference: str, secret: Manifest | None) -> tuple[Manifest | None, list[str]]:
    if not reference:
        raise UsageError("state present needs credentials, a reference to a secret")
    wanted = credentials_in(context.secret(reference))
    if secret is None:
        raise ClusterError(
            f"{_QUERY} is missing, so the cluster is not OpenShift; configure the registries of this cluster yourself"
        )
    return with_credentials(secret, wanted), sorted(wanted)
