# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, seconds_text
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.own_lifecycles import read_lifecycles
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load import MetricsArguments
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.requests import judge
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import TIMEOUT
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.watch_requests import WatchRequest, watch
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.inputs import naming, positive_seconds
from ansible_collections.psap.perf.plugins.plugin_utils.scale_test import endpoint_of, place_of, values
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(MetricsArguments):
    namespace: str
    workload_kind: str
    api_version: str
    lifecycles: Mapping[str, Any]
    label_selector: str
    count: int
    until: str
    timeout: Seconds
    timeout_fails: bool


class ActionModule(CommandAction):
    """Record the state transitions of workloads of another submitter."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return a description of the recording."""
        args = context.arguments(Arguments)
        return (
            f"would record {args.workload_kind} objects in namespace {args.namespace} until {args.until}, "
            f"at most {seconds_text(args.timeout)} s"
        )

    def perform(self, context: VerbContext) -> VerbResult:
        """Record the workloads and judge the end."""
        args = context.arguments(Arguments)
        request = _request(context, args)
        end = asyncio.run(watch(endpoint_of(context), request, context.interrupted.is_set))
        with values(end) as outcome:
            if end.ended_by != TIMEOUT or args.timeout_fails:
                judge(end, max_failed=None, timeout_s=request.timeout_s)
        return VerbResult(values=outcome)


def _request(context: VerbContext, args: Arguments) -> WatchRequest:
    with naming("timeout"):
        timeout_s = positive_seconds(args.timeout)
    with naming("lifecycles"):
        lifecycles = read_lifecycles(args.lifecycles)
    return WatchRequest(
        place=place_of(context),
        api_version=api_version_of(args.workload_kind, args.api_version or None),
        kind=args.workload_kind,
        namespace=args.namespace,
        selector=args.label_selector or None,
        count=args.count,
        until=args.until,
        timeout_s=timeout_s,
        lifecycles=lifecycles,
        metrics=args.metrics,
    )
