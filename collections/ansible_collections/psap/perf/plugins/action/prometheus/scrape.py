# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import functools
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text, write_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import path_part
from ansible_collections.psap.perf.plugins.module_utils.cluster.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.cluster.port_forward import forwarded
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.prometheus.monitors import Target, samples_in
from ansible_collections.psap.perf.plugins.module_utils.prometheus.scraping import (
    Scraper,
    TargetError,
    described,
    targets_of,
)
from ansible_collections.psap.perf.plugins.modules.prometheus.scrape import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

_TOKEN_S = 600


class ActionModule(PerfAction):
    """Ask the targets of a monitor."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Ask each, and keep what it answers; then say which did not."""
        cluster = context.cluster()
        monitor = _monitor(context)
        targets = targets_of(cluster, monitor)
        if context.check_mode:
            return VerbResult(
                values={"targets": list(map(described, targets))},
                skipped=f"check mode: would ask {len(targets)} targets",
            )
        scraper = Scraper(
            cluster,
            monitor["metadata"]["namespace"],
            functools.partial(_own_token, context),
            context.redactor.add,
            functools.partial(forwarded, cluster.access),
            seconds(context.args["timeout"]),
        )
        told = []
        for target in targets:
            context.check_interrupted()
            told.append({**described(target), **_kept(context, scraper, target)})
        about = {"kind": monitor["kind"], "namespace": scraper.namespace, "name": monitor["metadata"]["name"]}
        document = {"schema": "psap.perf/metrics-targets/1", "monitor": about, "targets": told}
        write_yaml(context.directory / "artifacts/metrics_targets.yml", context.redactor.redact(document))
        silent = [(target, each["error"]) for target, each in zip(targets, told, strict=True) if "error" in each]
        if silent or not told:
            raise _failure(context, targets, silent, told)
        return VerbResult(values={"targets": told})


def _monitor(context: VerbContext) -> Manifest:
    args = context.args
    query = Query(api_version_of(args["kind"]), args["kind"], args["namespace"], args["name"])
    monitor = context.cluster().get(query)
    if monitor is None:
        raise ClusterError(f"there is no {query}; the cluster's monitors are shown by: oc get {args['kind']} -A")
    return {**monitor, "kind": args["kind"]}


def _own_token(context: VerbContext) -> str:
    namespace, slash, name = context.args["service_account"].partition("/")
    if not slash or not name:
        raise UsageError(f"{context.args['service_account']!r} is no service account: write namespace/name")
    return context.cluster().service_account_token(namespace, name, _TOKEN_S)


def _kept(context: VerbContext, scraper: Scraper, target: Target) -> dict[str, Any]:
    try:
        page = scraper.page(target)
    except TargetError as error:
        return {"error": str(error)}
    path = target.asking.path.removeprefix("/metrics")
    file = f"metrics/{path_part(f'{target.pod}_{target.port}{path}')}.txt"
    place = context.directory / "artifacts" / file
    place.parent.mkdir(exist_ok=True)
    write_text(place, page)
    return {"file": file, "samples": samples_in(page)}


def _failure(
    context: VerbContext, targets: list[Target], silent: list[tuple[Target, str]], told: list[dict[str, Any]]
) -> DataQualityError:
    named = f"{context.args['kind']} {context.args['namespace']}/{context.args['name']}"
    if not told:
        failure = DataQualityError(
            f"{named} has no targets: no pod has a port that it names; compare its selector and ports with those of "
            f"{'the pods' if context.args['kind'] == 'PodMonitor' else 'the Services'}"
        )
    else:
        failure = DataQualityError(
            f"{len(silent)} of {len(targets)} targets of {named} do not answer: "
            + "; ".join(f"{target}: {error}" for target, error in silent)
        )
    failure.result = {"targets": told}
    return failure
