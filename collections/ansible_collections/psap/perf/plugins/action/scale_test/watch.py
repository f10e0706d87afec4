# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import asyncio

from ansible_collections.psap.perf.plugins.module_utils.cluster.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import TIMEOUT
from ansible_collections.psap.perf.plugins.modules.scale_test.watch import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.scale_test import (
    endpoint_of,
    metrics_of,
    place_of,
    timeout_of,
    values,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Record what becomes of the workloads of others."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say what would be recorded."""
        args = context.args
        return (
            f"would record {args['kind']} objects in namespace {args['namespace']} until {args['until']}, "
            f"at most {args['timeout']}"
        )

    def perform(self, context: VerbContext) -> VerbResult:
        """Record, judge."""
        request = _request(context)
        end = asyncio.run(requests.watch(endpoint_of(context), request, context.interrupted.is_set))
        with values(end) as outcome:
            if end.ended_by != TIMEOUT or context.args["timeout_fails"]:
                requests.judge(end, max_failed=None, timeout_s=request.timeout_s)
        return VerbResult(values=outcome)


def _request(context: VerbContext) -> requests.WatchRequest:
    args = context.args
    return requests.WatchRequest(
        place=place_of(context),
        api_version=api_version_of(args["kind"], args["api_version"]),
        kind=args["kind"],
        namespace=args["namespace"],
        selector=args["label_selector"] or None,
        count=args["count"],
        until=args["until"],
        timeout_s=timeout_of(context),
        metrics=metrics_of(context),
    )
