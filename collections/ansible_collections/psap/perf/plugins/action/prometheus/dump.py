# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import path_part
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import Executed, run_in_pod
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus
from ansible_collections.psap.perf.plugins.module_utils.prometheus.dumping import Contents, dump_pod, dump_snapshot
from ansible_collections.psap.perf.plugins.modules.prometheus.dump import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.prometheus import API, PrometheusArguments, address_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(PrometheusArguments):
    via: str
    namespace: str
    label: str
    dump_name_prefix: str
    container: str
    directory: str
    every_replica: bool


class ActionModule(CommandAction):
    """Dump the database of a Prometheus."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the archive that would be written."""
        args = context.arguments(Arguments)
        return f"would archive the database of Prometheus as {args.dump_name_prefix}.tar.gz, via {args.via}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the archives."""
        args = context.arguments(Arguments)
        archives, warnings = [], []
        for path, contents, printed in _snapshot(context, args) if args.via == API else _pods(context, args):
            archives.append({"file": str(path), **asdict(contents)})
            if printed:
                warnings.append(f"while {path.name} was packed: {printed}")
        return VerbResult(values={"archives": archives}, warnings=tuple(warnings))


def _archive(context: VerbContext, *parts: str) -> Path:
    return context.directory / "artifacts" / f"{path_part('_'.join(parts))}.tar.gz"


def _snapshot(context: VerbContext, args: Arguments) -> Iterator[tuple[Path, Contents, str]]:
    path = _archive(context, args.dump_name_prefix)
    with Prometheus(address_of(context, args)) as prometheus:
        yield path, dump_snapshot(prometheus, path), ""


def _pods(context: VerbContext, args: Arguments) -> Iterator[tuple[Path, Contents, str]]:
    cluster = context.cluster()
    query = Query("v1", "Pod", args.namespace, label_selector=args.label)
    pods, _version = cluster.list(query)
    if not pods:
        raise ClusterError(f"no {query}; select the pods of Prometheus with namespace and label")
    pods.sort(key=_age)
    for pod in pods if args.every_replica else pods[:1]:
        name = pod["metadata"]["name"]
        run = functools.partial(_run, context, cluster.access, (args.namespace, name, args.container))
        path = _archive(context, args.dump_name_prefix, *([name] if args.every_replica else []))
        contents, printed = dump_pod(run, args.directory, path)
        yield path, contents, printed


def _run(
    context: VerbContext, access: Access, where: tuple[str, str, str], argv: list[str], output: BinaryIO
) -> Executed:
    return run_in_pod(access, where, argv, output, context.check_interrupted)


def _age(pod: Manifest) -> str:
    """Return the time of the pod's creation, as a text with the order of the times."""
    return str(pod["metadata"]["creationTimestamp"])
