# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import path_part
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.cluster.pod_exec import run_in_pod
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus
from ansible_collections.psap.perf.plugins.module_utils.prometheus.dumping import Contents, dump_pod, dump_snapshot
from ansible_collections.psap.perf.plugins.modules.prometheus.dump import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.prometheus import API, address_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Keep a Prometheus."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say what would be kept."""
        return f"would keep the database of Prometheus as {context.args['prefix']}.tar.gz, via {context.args['via']}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Keep it."""
        archives, warnings = [], []
        for path, contents, said in _snapshot(context) if context.args["via"] == API else _pods(context):
            archives.append({"file": str(path), **asdict(contents)})
            if said:
                warnings.append(f"while {path.name} was packed: {said}")
        return VerbResult(values={"archives": archives}, warnings=tuple(warnings))


def _archive(context: VerbContext, *parts: str) -> Path:
    name = path_part("_".join((context.args["prefix"], *parts)))
    return context.directory / "artifacts" / f"{name}.tar.gz"


def _snapshot(context: VerbContext) -> Iterator[tuple[Path, Contents, str]]:
    path = _archive(context)
    with Prometheus(address_of(context)) as prometheus:
        yield path, dump_snapshot(prometheus, path), ""


def _pods(context: VerbContext) -> Iterator[tuple[Path, Contents, str]]:
    args = context.args
    cluster = context.cluster()
    query = Query("v1", "Pod", args["namespace"], label_selector=args["label_selector"])
    pods, _version = cluster.list(query)
    if not pods:
        raise ClusterError(f"there are no {query}; say with namespace and label which pods are Prometheus")
    pods.sort(key=_age)
    for pod in pods if args["every_replica"] else pods[:1]:
        name = pod["metadata"]["name"]
        where = (args["namespace"], name, args["container"])
        run = functools.partial(_run, context, cluster.access, where)
        path = _archive(context, name) if args["every_replica"] else _archive(context)
        contents, said = dump_pod(run, args["directory"], path)
        yield path, contents, said


def _run(context: VerbContext, access: Access, where: tuple[str, str, str], argv: list[str], output: Any) -> Any:
    return run_in_pod(access, where, argv, output, context.check_interrupted)


def _age(pod: Manifest) -> str:
    """Texts of this form sort as their times do."""
    return str(pod["metadata"]["creationTimestamp"])
