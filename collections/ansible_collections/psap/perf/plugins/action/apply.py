# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api import temporary
from ansible_collections.psap.perf.plugins.module_utils.kube_api.applying import (
    Outcome,
    Replacing,
    apply_all,
    delete_all,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import (
    Manifest,
    checked,
    file_name,
    hidden,
    labelled,
    with_secrets,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.patching import patched
from ansible_collections.psap.perf.plugins.modules.apply import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.templates import cluster_facts, rendered_manifests
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


class State(StrEnum):
    PRESENT = "present"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Arguments:
    template: str | None
    definition: tuple[Manifest, ...] | None
    namespace: str | None
    labels: Mapping[str, str]
    patch: Mapping[str, Mapping[str, Any]]
    owned: bool
    secrets: Mapping[str, Mapping[str, str]]
    when_served: tuple[str, ...]
    replace: frozenset[str]
    temporary: bool
    state: State
    timeout: Seconds


class ActionModule(PerfAction):
    """Apply or delete the objects of a template."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Render, keep, apply."""
        args = context.arguments(Arguments)
        cluster = context.cluster()
        rendered = _apply_patches(self._manifests(context, args), args.patch)
        labels = {**args.labels, **(temporary.labels(context.run) if args.temporary else {})}
        found = [
            labelled(item, labels, _namespace(item, args.namespace, cluster), owned=args.owned) for item in rendered
        ]
        served = [item for item in found if _is_wanted(item, args.when_served, cluster)]
        manifests = with_secrets(served, _secret_values(context, args))
        for manifest in manifests:
            write_text(context.directory / "src" / file_name(manifest), dump_yaml(hidden(manifest)))
        if args.state is State.ABSENT:
            return _result(delete_all(cluster, manifests, context.check_mode, args.timeout, context.check_interrupted))
        replacing = Replacing(args.replace, args.timeout, context.check_interrupted)
        return _result(apply_all(cluster, manifests, context.check_mode, replacing))

    def _manifests(self, context: VerbContext, args: Arguments) -> list[Manifest]:
        if args.definition is not None and args.template is None:
            return checked(args.definition, "definition")
        if args.template is not None and args.definition is None:
            added = cluster_facts(context.cluster(), args.namespace)
            return rendered_manifests(self, context, args.template, added)
        raise UsageError("apply accepts either template or definition")


def _apply_patches(manifests: list[Manifest], patches: Mapping[str, Mapping[str, Any]]) -> list[Manifest]:
    strange = set(patches) - {item["kind"] for item in manifests}
    if strange:
        raise UsageError(f"patch: no {', '.join(sorted(strange))} among the manifests")
    return [patched(item, patches.get(item["kind"], {})) for item in manifests]


def _namespace(manifest: Manifest, namespace: str | None, cluster: Cluster) -> str | None:
    """Return *namespace*, unless the object's kind is not namespaced."""
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    outside = cluster.serves(api_version, kind) and not cluster.is_namespaced(api_version, kind)
    return None if outside else namespace


def _is_wanted(manifest: Manifest, when_served: tuple[str, ...], cluster: Cluster) -> bool:
    return manifest["kind"] not in when_served or cluster.serves(manifest["apiVersion"], manifest["kind"])


def _secret_values(context: VerbContext, args: Arguments) -> dict[str, dict[str, str]]:
    """Return the values of ``secrets``, which are not needed to delete."""
    if args.state is State.ABSENT:
        return {}
    return {
        name: {key: _secret_value(context, f"{name}.{key}", reference) for key, reference in references.items()}
        for name, references in args.secrets.items()
    }


def _secret_value(context: VerbContext, where: str, reference: str) -> str:
    try:
        return context.secret(reference)
    except UsageError as error:
        raise UsageError(f"secrets.{where}: {error}") from error


def _result(outcomes: list[Outcome]) -> VerbResult:
    changed = any(outcome.changed for outcome in outcomes)
    differences: list[Mapping[str, Any]] = [item.difference for item in outcomes if item.changed]
    objects = [{"object": item.title, "changed": item.changed} for item in outcomes]
    return VerbResult(changed=changed, values={"objects": objects, "at": utc_now()}, diff=differences)
