# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds, utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, plain, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster import temporary
from ansible_collections.psap.perf.plugins.module_utils.cluster.applying import (
    Outcome,
    Replacing,
    apply_all,
    delete_all,
)
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import (
    Manifest,
    checked,
    file_name,
    hidden,
    labelled,
    with_secrets,
)
from ansible_collections.psap.perf.plugins.module_utils.cluster.patching import patched
from ansible_collections.psap.perf.plugins.modules.apply import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.templates import cluster_facts, rendered_manifests
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Apply or delete the objects of a template."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Render, keep, apply."""
        args = context.args
        cluster = context.cluster()
        rendered = _patched(self._manifests(context), plain(args["patch"]))
        labels = {**args["labels"], **(temporary.labels(context.run) if args["temporary"] else {})}
        found = [
            labelled(item, labels, _namespace(item, args["namespace"], cluster), owned=args["owned"])
            for item in rendered
        ]
        served = [item for item in found if _wanted(item, args["when_served"], cluster)]
        manifests = with_secrets(served, _secret_values(context))
        for manifest in manifests:
            write_text(context.directory / "src" / file_name(manifest), dump_yaml(hidden(manifest)))
        timeout = seconds(args["timeout"])
        if args["state"] == "absent":
            return _result(delete_all(cluster, manifests, context.check_mode, timeout, context.check_interrupted))
        replacing = Replacing(frozenset(args["replace"]), timeout, context.check_interrupted)
        return _result(apply_all(cluster, manifests, context.check_mode, replacing))

    def _manifests(self, context: VerbContext) -> list[Manifest]:
        template, definition = context.args["template"], context.args["definition"]
        if (template is None) == (definition is None):
            raise UsageError("apply takes either template or definition")
        if definition is not None:
            return checked(plain(definition), "definition")
        return rendered_manifests(self, context, template, cluster_facts(context.cluster(), context.args["namespace"]))


def _patched(manifests: list[Manifest], patches: Mapping[str, Any]) -> list[Manifest]:
    strange = set(patches) - {item["kind"] for item in manifests}
    if strange:
        raise UsageError(f"patch: there is no {', '.join(sorted(strange))} among the manifests")
    return [patched(item, patches.get(item["kind"], {})) for item in manifests]


def _namespace(manifest: Manifest, namespace: str | None, cluster: Cluster) -> str | None:
    """*namespace*, unless the object cannot live in one."""
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    outside = cluster.serves(api_version, kind) and not cluster.is_namespaced(api_version, kind)
    return None if outside else namespace


def _wanted(manifest: Manifest, when_served: list[str], cluster: Cluster) -> bool:
    return manifest["kind"] not in when_served or cluster.serves(manifest["apiVersion"], manifest["kind"])


def _secret_values(context: VerbContext) -> dict[str, dict[str, str]]:
    """The values of ``secrets``, which are not needed to delete."""
    if context.args["state"] == "absent":
        return {}
    return {
        name: {key: _secret_value(context, f"{name}.{key}", reference) for key, reference in references.items()}
        for name, references in context.args["secrets"].items()
    }


def _secret_value(context: VerbContext, where: str, reference: Any) -> str:
    try:
        return context.secret(reference)
    except UsageError as error:
        raise UsageError(f"secrets.{where}: {error}") from error


def _result(outcomes: list[Outcome]) -> VerbResult:
    changed = any(outcome.changed for outcome in outcomes)
    differences: list[Mapping[str, Any]] = [item.difference for item in outcomes if item.changed]
    objects = [{"object": item.title, "changed": item.changed} for item in outcomes]
    return VerbResult(changed=changed, values={"objects": objects, "at": utc_now()}, diff=differences)
