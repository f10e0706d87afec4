# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease import lease
from ansible_collections.psap.perf.plugins.module_utils.kube_api import rights
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import lab_of
from ansible_collections.psap.perf.plugins.modules.preflight import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.leases import needs_lease, take_lease
from ansible_collections.psap.perf.plugins.plugin_utils.role_rights import rules_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class RequiredKind:
    """A kind that the cluster must serve, unless it serves one kind, or only if it serves another."""

    kind: str
    api_version: str | None
    unless: str | None
    served: str | None
    advice: str


@dataclass(frozen=True, slots=True)
class Arguments:
    requires: tuple[RequiredKind, ...]
    rights: tuple[Mapping[str, Any], ...]
    lease: bool
    secrets: tuple[str, ...]


class ActionModule(PerfAction):
    """Check the cluster before the run changes it."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Connect to the cluster, and check its kinds and the user's rights."""
        args = context.arguments(Arguments)
        _require_secrets(context, args.secrets)
        cluster = context.cluster()
        require_kinds(args.requires, cluster)
        takes_lease = args.lease and needs_lease(context)
        rules = [*map(_without_nulls, args.rights), {**lease.RIGHTS, "when": takes_lease}]
        denied = rights.missing(cluster, rights.rights(rights.applicable(rules, cluster), rules_of))
        if denied:
            raise ClusterError(
                f"the user of {cluster.server} has no rights to: {'; '.join(denied)}; request them with a Role or a "
                "ClusterRole, or choose settings that need fewer"
            )
        lab = lab_of(cluster.lab())
        facts = {
            "cluster": {"uid": cluster.uid(), "version": cluster.version(), "server": cluster.server},
            "lab": lab.document() if lab else None,
        }
        taken = take_lease(context, str(context.variables["perf_flow"])) if takes_lease else {}
        return VerbResult(values={"run_facts": facts, "openshift": cluster.is_openshift(), **taken})


class KindSource(Protocol):
    """A cluster, and the kinds that it serves."""

    @property
    def server(self) -> str:
        """Return its address."""

    def serves(self, api_version: str, kind: str) -> bool:
        """Return whether it serves a kind in that version."""

    def is_openshift(self) -> bool:
        """Return whether it is OpenShift."""


def require_kinds(requires: Sequence[RequiredKind], cluster: KindSource) -> None:
    """Check that the cluster serves the kinds that it must.

    Raises:
        ClusterError: If kinds are missing; the message lists all.
    """

    def serves(kind: str) -> bool:
        return cluster.serves(api_version_of(kind), kind)

    needed = {
        (api_version_of(wanted.kind, wanted.api_version), wanted.kind): wanted.advice
        for wanted in requires
        if not (wanted.unless and serves(wanted.unless)) and (not wanted.served or serves(wanted.served))
    }
    missing = {each: advice for each, advice in needed.items() if not cluster.serves(*each)}
    if missing:
        raise ClusterError(missing_kinds(cluster.server, missing, is_openshift=cluster.is_openshift()))


def _require_secrets(context: VerbContext, references: Sequence[str]) -> None:
    """Read all secrets that are needed.

    Raises:
        UsageError: If secrets are missing or exposed; the message lists all.
    """
    problems = []
    for reference in references:
        try:
            context.secret(reference)
        except UsageError as error:
            problems.append(str(error))
    if problems:
        raise UsageError("\n".join(problems))


def _without_nulls(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of *rule* that have a value."""
    return {name: value for name, value in rule.items() if value is not None}


def missing_kinds(server: str, missing: Mapping[tuple[str, str], str], *, is_openshift: bool) -> str:
    """Return a message about missing kinds and API versions, with the advice about each."""
    kinds = ", no ".join(f"{kind} ({version})" for version, kind in missing)
    openshifts = all(version.partition("/")[0].endswith(".openshift.io") for version, _kind in missing)
    advice = "this needs OpenShift, but the cluster is not"
    if not openshifts or is_openshift:
        advice = "; ".join(dict.fromkeys(missing.values()))
    return f"the cluster at {server} serves no {kinds}; {advice}"
