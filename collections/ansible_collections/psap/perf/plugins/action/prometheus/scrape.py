# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text, write_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import path_part
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import forwarded
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.prometheus.monitors import Target, samples_in
from ansible_collections.psap.perf.plugins.module_utils.prometheus.scraping import (
    Scraper,
    TargetError,
    target_document,
    targets_of,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult

_TOKEN_S = 600


@dataclass(frozen=True, slots=True)
class Arguments:
    service_name: str
    namespace: str
    is_podmonitor: bool
    service_account: str
    timeout: Seconds

    @property
    def monitor(self) -> Query:
        """Return the query of the monitor."""
        kind = "PodMonitor" if self.is_podmonitor else "ServiceMonitor"
        return Query(api_version_of(kind), kind, self.namespace, self.service_name)


class ActionModule(CommandAction):
    """Scrape the targets of a monitor."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Scrape each target, and keep its page; then fail if one did not respond."""
        args, cluster = context.arguments(Arguments), context.cluster()
        monitor = _monitor(cluster, args.monitor)
        targets = targets_of(cluster, monitor)
        if context.check_mode:
            return VerbResult(
                values={"targets": list(map(target_document, targets))},
                skipped=f"check mode: would scrape {len(targets)} targets",
            )
        scraper = Scraper(
            cluster,
            monitor["metadata"]["namespace"],
            functools.partial(_own_token, cluster, args.service_account),
            context.redactor.add,
            functools.partial(forwarded, cluster.access),
            args.timeout,
        )
        found = []
        for target in targets:
            context.check_interrupted()
            found.append({**target_document(target), **_page(context, scraper, target)})
        about = {"kind": monitor["kind"], "namespace": scraper.namespace, "name": monitor["metadata"]["name"]}
        document = {"schema": "psap.perf/metrics-targets/1", "monitor": about, "targets": found}
        write_yaml(context.directory / "artifacts/metrics_targets.yml", context.redactor.redact(document))
        silent = [(target, each["error"]) for target, each in zip(targets, found, strict=True) if "error" in each]
        if silent or not found:
            failure = _failure(args.monitor, targets, silent)
            failure.result = {"targets": found}
            raise failure
        return VerbResult(values={"targets": found})


def _monitor(cluster: Cluster, query: Query) -> Manifest:
    monitor = cluster.get(query)
    if monitor is None:
        raise ClusterError(f"{query} does not exist; list the cluster's monitors with: oc get {query.kind} -A")
    return {**monitor, "kind": query.kind}


def _own_token(cluster: Cluster, service_account: str) -> str:
    namespace, slash, name = service_account.partition("/")
    if not slash or not name:
        raise UsageError(f"invalid service account {service_account!r}: write namespace/name")
    return cluster.service_account_token(namespace, name, _TOKEN_S)


def _page(context: VerbContext, scraper: Scraper, target: Target) -> dict[str, Any]:
    """Return the file with the target's page, and its number of samples; or the error."""
    try:
        page = scraper.page(target)
    except TargetError as error:
        return {"error": str(error)}
    path = target.request.path.removeprefix("/metrics")
    file = f"metrics/{path_part(f'{target.pod}_{target.port}{path}')}.txt"
    place = context.directory / "artifacts" / file
    place.parent.mkdir(exist_ok=True)
    write_text(place, page)
    return {"file": file, "samples": samples_in(page)}


def _failure(monitor: Query, targets: list[Target], silent: list[tuple[Target, str]]) -> DataQualityError:
    named = f"{monitor.kind} {monitor.namespace}/{monitor.name}"
    if not targets:
        return DataQualityError(
            f"{named} has no targets: no pod has one of its ports; compare its selector and ports with those of "
            f"{'the pods' if monitor.kind == 'PodMonitor' else 'the Services'}"
        )
    return DataQualityError(
        f"{len(silent)} of {len(targets)} targets of {named} do not respond: "
        + "; ".join(f"{target}: {error}" for target, error in silent)
    )
