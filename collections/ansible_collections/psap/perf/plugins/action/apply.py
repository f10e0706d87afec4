# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.template import trust_as_template
from ansible_collections.psap.perf.plugins.module_utils.applying import Outcome, apply_all, delete_all
from ansible_collections.psap.perf.plugins.module_utils.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.cluster import Manifest
from ansible_collections.psap.perf.plugins.module_utils.documents import dump_yaml, plain, write_text
from ansible_collections.psap.perf.plugins.module_utils.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.manifests import (
    checked,
    file_name,
    labelled,
    parse_manifests,
)
from ansible_collections.psap.perf.plugins.module_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.module_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.modules.apply import DOCUMENTATION


class ActionModule(PerfAction):
    """Apply or delete the objects of a template."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Render, keep, apply."""
        args = context.args
        manifests = [labelled(item, args["labels"], args["namespace"]) for item in self._manifests(context)]
        source = context.directory / "src"
        for manifest in manifests:
            write_text(source / file_name(manifest), dump_yaml(manifest))
        if args["state"] == "absent":
            timeout = seconds(args["timeout"])
            outcomes = delete_all(context.cluster(), manifests, context.check_mode, timeout, context.check_interrupted)
        else:
            outcomes = apply_all(context.cluster(), manifests, context.check_mode)
        return _result(outcomes)

    def _manifests(self, context: VerbContext) -> list[Manifest]:
        template, definition = context.args["template"], context.args["definition"]
        if (template is None) == (definition is None):
            raise UsageError("apply takes either template or definition")
        if definition is not None:
            return checked(plain(definition), "definition")
        path = Path(self._find_needle("templates", template))
        searched = [str(path.parent), *(context.variables.get("ansible_search_path") or [])]
        templar = self._templar.copy_with_new_env(searchpath=searched)
        rendered = templar.template(trust_as_template(path.read_text(encoding="utf-8")))
        return parse_manifests(str(rendered), path.name)


def _result(outcomes: list[Outcome]) -> VerbResult:
    changed = any(outcome.changed for outcome in outcomes)
    differences: list[Mapping[str, Any]] = [
        {"before_header": item.title, "after_header": item.title, "before": item.before, "after": item.after}
        for item in outcomes
        if item.changed
    ]
    objects = [{"object": item.title, "changed": item.changed} for item in outcomes]
    return VerbResult(changed=changed, values={"objects": objects}, diff=differences)
