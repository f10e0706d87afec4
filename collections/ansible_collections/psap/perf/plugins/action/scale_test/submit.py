# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import asyncio
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.priorities import check_priorities
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.queues import check_queues
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import ArrivalSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import (
    Assortment,
    priorities_of,
    tenants_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.inputs import (
    check_claim_size,
    check_namespace,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import read_trace
from ansible_collections.psap.perf.plugins.modules.scale_test.submit import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.scale_test import (
    endpoint_of,
    found_file,
    metrics_of,
    naming,
    place_of,
    timeout_of,
    values,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Submit workloads and record what becomes of them."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Render the workloads, so that the first can be looked at, and say what would be submitted."""
        request = self._request(context)
        pod_groups = asyncio.run(requests.served_pod_groups(endpoint_of(context))) if request.gang else ""
        workloads = request.workloads(lab=False, openshift=False, pod_groups=pod_groups)
        first = workloads.at(0)
        kinds = " and ".join(kind for _version, kind in workloads.kinds)
        return (
            f"would submit {request.total} {kinds} objects, the first of "
            f"{first.size.pods} pods and {first.size.gpus} GPUs, to namespace "
            f"{', '.join(request.assortment.namespaces)}, and wait for their end"
        )

    def perform(self, context: VerbContext) -> VerbResult:
        """Submit, record, judge."""
        request = self._request(context)
        end = asyncio.run(requests.submit(endpoint_of(context), request, context.interrupted.is_set))
        allowed = context.args["max_failed"]
        with values(end) as outcome:
            requests.judge(end, max_failed=allowed if allowed >= 0 else None, timeout_s=request.timeout_s)
        return VerbResult(changed=True, values=outcome)

    def _request(self, context: VerbContext) -> requests.SubmitRequest:
        args = context.args
        named = args["arrivals"]["trace"]
        trace = read_trace(self._file("trace", "files", named)) if named else None
        tenants = tenants_of(args["tenants"], args["namespace"], args["variables"].get("queue") or "")
        check_queues(tenants)
        priorities = priorities_of(args["priorities"])
        check_priorities(priorities)
        with naming("namespace"):
            for namespace in (args["namespace"], *(tenant.namespace for tenant in tenants)):
                check_namespace(namespace)
        with naming("pvc_size"):
            check_claim_size(args["variables"].get("pvc_size") or "")
        return requests.SubmitRequest(
            place=place_of(context),
            template=self._file("template", "templates", args["template"]),
            variables=args["variables"],
            patch=args["patch"],
            gang=args["gang"],
            churn=ChurnPlan(args["churn"]["percent"], seconds(args["churn"]["period"]), args["churn"]["rounds"]),
            count=args["count"],
            pods=args["pods"],
            duration_s=seconds(args["duration"]),
            connections=args["connections"],
            submitters=args["submitters"],
            arrivals=ArrivalSettings.of(args["arrivals"], trace),
            assortment=Assortment(tenants, priorities, trace),
            timeout_s=timeout_of(context),
            metrics=metrics_of(context),
        )

    def _file(self, argument: str, folder: str, named: str) -> Path:
        with naming(argument):
            return found_file(self._find_needle, folder, named)
