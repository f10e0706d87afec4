# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, plain, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import file_name, hidden
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.account import Account
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.copies import NUMBER_MARK
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.filling import (
    FillRequest,
    NoNamespaceError,
    plan,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import read_surroundings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import concurrency_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at
from ansible_collections.psap.perf.plugins.modules.scale_test.fill import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.scale_test import endpoint_of
from ansible_collections.psap.perf.plugins.plugin_utils.templates import cluster_facts, rendered_manifests
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    template: str
    count: int
    namespaces: str
    labels: Mapping[str, str]
    rate: float
    connections: int


class ActionModule(PerfAction):
    """Create copies of the objects of a template."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Render the template and create the missing copies."""
        request = self._request(context)
        try:
            account = asyncio.run(_fill(context, request))
        except NoNamespaceError as error:
            if not context.check_mode:
                raise
            return VerbResult(skipped=f"check mode: would create {request.count} copies in each namespace, but {error}")
        values = _values(account)
        if context.check_mode:
            return VerbResult(changed=account.missing > 0, values=values)
        try:
            account.judge()
        except PerfError as error:
            error.result = values
            raise
        return VerbResult(changed=account.created.total() > 0, values=values)

    def _request(self, context: VerbContext) -> FillRequest:
        args = context.arguments(Arguments)
        if args.connections < 0:
            raise UsageError(f"connections is {args.connections}; it must be at least 0")
        added = {"number": NUMBER_MARK, **cluster_facts(context.cluster(), None)}
        manifests = plain(rendered_manifests(self, context, args.template, added))
        for manifest in manifests:
            written = dump_yaml(hidden(manifest)).replace(NUMBER_MARK, "00000")
            write_text(context.directory / "src" / file_name(manifest).replace(NUMBER_MARK, "00000"), written)
        return FillRequest(
            manifests=manifests,
            count=args.count,
            labels=args.labels,
            namespaces=args.namespaces,
            concurrency=concurrency_of(args.connections),
            arrivals=arrivals_at(args.rate),
        )


async def _fill(context: VerbContext, request: FillRequest) -> Account:
    async with ApiClient(endpoint_of(context)) as client:
        # fail now if the cluster does not answer
        await read_surroundings(client)
        filling = await plan(client, request)
        if not context.check_mode:
            await filling.run(context.directory / "artifacts", context.interrupted.is_set)
        return filling.account


def _values(account: Account) -> dict[str, Any]:
    return {"kinds": account.kinds(), "missing": account.missing}
