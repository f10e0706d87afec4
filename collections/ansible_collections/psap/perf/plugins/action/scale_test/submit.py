# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import asyncio
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.grouping import read_grouping
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load import Load
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.inputs import naming
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import read_trace
from ansible_collections.psap.perf.plugins.plugin_utils.scale_test import endpoint_of, found_file, place_of, values
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


class ActionModule(CommandAction):
    """Submit workloads and record their state transitions."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Write the first workload, and return a description of the submission."""
        request = self._request(context)
        grouping = asyncio.run(read_grouping(endpoint_of(context), request.load))
        workloads = request.workloads(lab=False, openshift=False, grouping=grouping)
        first = workloads.at(0)
        kinds = " and ".join(kind for _version, kind in workloads.kinds)
        return (
            f"would submit {request.total} {kinds} objects, the first of "
            f"{first.size.pods} pods and {first.size.gpus} GPUs, to namespace "
            f"{', '.join(request.assortment.namespaces)}, and wait for their end"
        )

    def perform(self, context: VerbContext) -> VerbResult:
        """Submit the workloads, record them, and judge the end."""
        request = self._request(context)
        end = asyncio.run(requests.submit(endpoint_of(context), request, context.interrupted.is_set))
        allowed = request.load.max_failed
        with values(end) as outcome:
            requests.judge(end, max_failed=allowed if allowed >= 0 else None, timeout_s=request.load.timeout)
        return VerbResult(changed=True, values=outcome)

    def _request(self, context: VerbContext) -> requests.SubmitRequest:
        load = context.arguments(Load)
        return requests.SubmitRequest(
            place=place_of(context),
            template=self._file("template", "templates", load.template_name),
            load=load,
            trace=read_trace(self._file("trace", "files", load.trace)) if load.trace else None,
        )

    def _file(self, argument: str, folder: str, named: str) -> Path:
        with naming(argument):
            return found_file(self._find_needle, folder, named)
