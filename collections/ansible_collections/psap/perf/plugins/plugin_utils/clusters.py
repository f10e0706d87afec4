"""The record that a verb's arguments are about."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.clusters.record import record_path
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext


def path_of(context: VerbContext) -> Path:
    """Where it is: as ``record`` says, else that of ``host`` in this run."""
    given = context.args["record"]
    return Path(given).absolute() if given else record_path(context.run_directory, context.args["host"])
