# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import secrets
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.pipelines.plan import (
    api_url,
    application_name,
    notebook_image,
    run_names,
    service_name,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult

_APPLICATIONS = "datasciencepipelinesapplications.opendatahub.io"


@dataclass(frozen=True, slots=True)
class Arguments:
    namespace: str
    dsp_application_name: str
    imagestream: str
    imagestream_tag: str
    imagestream_namespace: str
    image: str
    notebook_name: str
    run_count: int
    first_run_number: int
    run_delay: Seconds


class ActionModule(CommandAction):
    """Find the application, its API and the notebook's image, and name the runs."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the number of runs."""
        return f"would name {context.arguments(Arguments).run_count} runs"

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the application's objects."""
        args, cluster = context.arguments(Arguments), context.cluster()
        unique = secrets.token_hex(3)
        runs = run_names(args.notebook_name, unique, args.first_run_number, args.run_count)
        application = _application(cluster, args)
        name, place = service_name(application), args.namespace
        # pods of a lab cannot resolve the hosts of its Routes
        route = None if cluster.lab() else _found(cluster, Query("route.openshift.io", "Route", place, name))
        service = _found(cluster, Query("v1", "Service", place, name))
        values = {
            "application": application,
            "endpoint": api_url(application, place, route, service),
            "image": args.image or _image(cluster, args),
            "pipeline": f"{args.notebook_name}-{unique}",
            "runs": list(runs),
            "run_delay_s": float(args.run_delay),
        }
        return VerbResult(values=values)


def _application(cluster: Cluster, args: Arguments) -> str:
    query = Query(_APPLICATIONS, "DataSciencePipelinesApplication", args.namespace)
    found = cluster.list(query)[0] if cluster.serves(query.api_version, query.kind) else []
    return application_name(found, args.dsp_application_name, args.namespace)


def _image(cluster: Cluster, args: Arguments) -> str:
    query = Query("image.openshift.io", "ImageStream", args.imagestream_namespace, args.imagestream)
    return notebook_image(_found(cluster, query), args.imagestream, args.imagestream_tag)


def _found(cluster: Cluster, query: Query) -> dict[str, object] | None:
    return cluster.get(query) if cluster.serves(query.api_version, query.kind) else None
