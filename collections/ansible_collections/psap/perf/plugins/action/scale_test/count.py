# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json, write_text
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.counting import Counts, count
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import read_surroundings
from ansible_collections.psap.perf.plugins.modules.scale_test.count import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.scale_test import endpoint_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    kinds: tuple[str, ...]
    namespaces: str


class ActionModule(PerfAction):
    """Count the objects that fill a cluster."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Count the objects and write the counts."""
        counts = asyncio.run(_count(context, context.arguments(Arguments)))
        artifacts = context.directory / "artifacts"
        _write(artifacts, counts)
        document: dict[str, Any] = counts.document()
        return VerbResult(values={"total": document["total"], "namespaces": document["namespaces"]})


async def _count(context: VerbContext, args: Arguments) -> Counts:
    async with ApiClient(endpoint_of(context)) as client:
        # fail now if the cluster does not answer
        await read_surroundings(client)
        return await count(client, args.kinds, args.namespaces)


def _write(artifacts: Path, counts: Counts) -> None:
    write_json(artifacts / "counts.json", counts.document())
    write_text(artifacts / "counts.txt", counts.table())
    write_json(artifacts / "progress.json", counts.progress(RunClock.tied().now()))
