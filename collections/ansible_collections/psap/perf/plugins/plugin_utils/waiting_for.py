"""Waits of verbs, which show their progress, and write the objects that did not reach their goal."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, write_text
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest, readable
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import (
    Goal,
    NotReachedError,
    Progress,
    wait_for,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


def shown_wait_for(context: VerbContext, goal: Goal) -> Progress:
    """Wait for *goal*, and show the progress to the driver.

    Raises:
        NotReachedError: If it is not reached; ``artifacts/awaited.yml`` then has the last observed objects.
    """
    directory = context.command_directory()
    with shown_wait(directory, goal.described, goal.timeout_s) as show:
        try:
            return wait_for(
                context.cluster(),
                goal,
                context.check_interrupted,
                lambda progress: show(f"{progress.reached} of {progress.seen}; {progress.note}"),
            )
        except NotReachedError as error:
            _write(directory, error.result["objects"])
            raise


def _write(directory: Path | None, objects: list[Manifest]) -> None:
    if directory:
        texts = [dump_yaml(readable(item)) for item in objects]
        write_text(directory / "artifacts" / "awaited.yml", "---\n" + "---\n".join(texts))
