# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, seconds_text, utc_now
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest, readable
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import QueryArguments
from ansible_collections.psap.perf.plugins.module_utils.machines.leaving import failed_machine
from ansible_collections.psap.perf.plugins.module_utils.waiting.machine_configs import behind
from ansible_collections.psap.perf.plugins.module_utils.waiting.openshift_states import unchanged_for
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for
from ansible_collections.psap.perf.plugins.module_utils.waiting.stuck_pods import stuck_pod
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Predicate
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal, NotReachedError
from ansible_collections.psap.perf.plugins.modules.wait import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_for import shown_wait_for

_MANY = 20
# where else to look for the reason an object is not ready: in its pods, unless listed here
_SURRENDERS = {"MachineSet": failed_machine}
# the reason that an object's own status does not contain, by its kind
_LACKING = {"MachineConfigPool": behind}


@dataclass(frozen=True, slots=True)
class Arguments(QueryArguments):
    field_selector: str | None
    conditions: tuple[str, ...]
    count: int | None
    timeout: Seconds
    give_up_on: tuple[str, ...]
    stable_for: Seconds
    patience: Seconds


class ActionModule(PerfAction):
    """Wait for a state of objects."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the goal of the wait."""
        goal = _goal(context.arguments(Arguments))
        return f"would wait up to {seconds_text(goal.timeout_s)} s until {goal.described}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Wait, and show the progress to the driver."""
        started = time.monotonic()
        try:
            progress = shown_wait_for(context, _goal(context.arguments(Arguments)))
        except NotReachedError as error:
            error.result = {"objects": _names(error.result["objects"])}
            raise
        waited, at = round(time.monotonic() - started, 3), utc_now()
        return VerbResult(values={"objects": _brief(progress.objects), "waited_s": waited, "at": at})


def _goal(args: Arguments) -> Goal:
    query = replace(args.as_query(), field_selector=args.field_selector)
    absent = args.conditions == ("absent",)
    lasting = f" for {seconds_text(args.stable_for)} s" if args.stable_for else ""
    return Goal(
        query=query,
        described=f"{query}: {' and '.join(args.conditions)}{lasting}",
        states=() if absent else _states(query.kind, args.conditions, args.stable_for),
        timeout_s=args.timeout,
        count=args.count,
        absent=absent,
        give_up_on=args.give_up_on,
        patience_s=args.patience,
        pending=_LACKING.get(query.kind) if "ready" in args.conditions else None,
        surrender=None if absent else _SURRENDERS.get(query.kind, stuck_pod),
    )


def _states(kind: str, until: tuple[str, ...], stable_s: float) -> tuple[Predicate, ...]:
    lasting = [unchanged_for(stable_s)] if stable_s else []
    return (*(predicate_for(kind, state) for state in until), *lasting)


def _brief(objects: tuple[Manifest, ...]) -> list[Manifest]:
    return [readable(item) for item in objects] if len(objects) <= _MANY else _names(objects)


def _names(objects: Iterable[Manifest]) -> list[Manifest]:
    return [{"metadata": {"name": item["metadata"]["name"]}} for item in objects]
