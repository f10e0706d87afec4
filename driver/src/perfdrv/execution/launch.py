"""The launch of runs: the directory, Ansible, and the recorded end."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.base.provenance import git_state, start_facts
from ansible_collections.psap.perf.plugins.module_utils.run.directory import (
    REACHED_FILE,
    STOP_FILE,
    begin_attempt,
    end_attempt,
    hold,
    new_run_directory,
    release,
    update_run,
)
from ansible_collections.psap.perf.plugins.module_utils.run.environment import ATTEMPT, JOINED
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure, failures_of
from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, CONCLUDE

from perfdrv.ansible.private_directory import remove_leftovers
from perfdrv.ansible.pseudo_terminal import require_pseudo_terminal
from perfdrv.ansible.request import RunRequest
from perfdrv.ansible.supervised import adopt_orphans
from perfdrv.ansible.workers import Finished, carry_out
from perfdrv.errors import EXIT_FAILED
from perfdrv.execution.follow import Follower
from perfdrv.execution.interrupts import Interrupts
from perfdrv.execution.settle import outcome_of
from perfdrv.runs.outcome import Outcome
from perfdrv.runs.tree import RunTree
from perfdrv.views.scene import Scene
from perfdrv.views.terminal import open_view

Keep = Callable[[Outcome], Mapping[str, Any]]


def launch(request: RunRequest, keep: Keep | None = None) -> Outcome:
    """Carry out a request with one Ansible, and with another one if its finalizers did not run."""
    return launch_attempt(request, _play, keep)


def _play(attempt: Attempt) -> Outcome:
    outcome = attempt.join(tags=attempt.request.tags)
    if not outcome.left_early:
        attempt.record_cleanup(outcome)
    elif attempt.has_finalizers and not attempt.stage.follower.killed:
        attempt.clean_up(outcome)
    return outcome


def launch_attempt(
    request: RunRequest,
    perform: Callable[[Attempt], Outcome],
    keep: Keep | None = None,
) -> Outcome:
    """Carry out a request as an attempt that the driver holds.

    run.json exists from the start and is `running` until the end, so that a killed driver never leaves a run that is
    ok. A new run that is refused before its first command leaves no directory.

    Args:
        perform: Carries out the attempt and returns its outcome.
        keep: Returns fields of run.json that this outcome does not change.

    Raises:
        UsageError: Ansible cannot start on this machine; no directory is created.
    """
    require_pseudo_terminal()
    with Interrupts(request.grace) as interrupts:
        facts, begins = facts_of(request), request.run_directory is None
        request = _in_directory(request)
        hold(request.directory)
        try:
            number = len(begin_attempt(request.directory, facts)["attempts"])
            with contextlib.closing(Stage(request, interrupts)) as stage:
                outcome = perform(Attempt(request, facts, stage, number))
            kept = keep(outcome) if keep else {}
            outcome = _end(outcome, kept)
        finally:
            release(request.directory)
        if begins and outcome.status == "refused" and not RunTree(request.directory).steps():
            shutil.rmtree(request.directory)
    return outcome


def _end(outcome: Outcome, kept: Mapping[str, Any]) -> Outcome:
    """Record how the attempt ended; an attempt that cannot be recorded has failed."""
    try:
        end_attempt(outcome.directory, outcome.status, outcome.exit_code, outcome.reason, kept)
    except PerfError as error:
        return replace(outcome, status="failed", exit_code=EXIT_FAILED, reason=outcome.reason or {"what": str(error)})
    return outcome


def facts_of(request: RunRequest) -> dict[str, Any]:
    """Return the fields of run.json at the start of an attempt that the driver itself begins."""
    facts = start_facts(
        flow=request.flow,
        check=request.check,
        tags=request.tags,
        skip_tags=request.skip_tags,
        site=request.recorded_site,
        argv=["perfdrv", *sys.argv[1:]],
        git=git_state(request.project.root),
    )
    # a resumed run keeps its presets
    return facts if request.run_directory else {**facts, "presets": list(request.presets)}


def _in_directory(request: RunRequest) -> RunRequest:
    """Return the request with the run's directory: a new directory, or the resumed run's without its old stop file."""
    remove_leftovers()
    if request.run_directory is None:
        return replace(request, run_directory=new_run_directory(request.runs_root, request.flow))
    for name in (STOP_FILE, REACHED_FILE):
        (request.run_directory / name).unlink(missing_ok=True)
    return request


class Stage:
    """The start, observation and end of the Ansible processes of one run."""

    def __init__(self, request: RunRequest, interrupts: Interrupts) -> None:
        adopt_orphans()
        scene = Scene(flow=request.flow, site=request.site or "", directory=request.directory)
        self.follower = Follower(scene, open_view(), interrupts, request.verbosity)

    def carry_out(self, requests: Iterable[RunRequest], limit: int) -> Iterator[Finished]:
        """Carry out requests, at most *limit* concurrently, and yield each one when it has ended."""
        for finished in carry_out(requests, limit, self.follower):
            self.follower.ended(finished.request)
            yield finished

    def close(self) -> None:
        """Kill all remaining processes, and draw the run a last time."""
        self.follower.close()


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at a run that the driver holds, and that Ansible processes join."""

    request: RunRequest
    facts: Mapping[str, Any]
    stage: Stage
    number: int

    def record(self, changes: Mapping[str, Any]) -> None:
        """Write some fields of run.json."""
        update_run(self.request.directory, changes)

    def join(self, tags: tuple[str, ...] = (), skip_tags: tuple[str, ...] = ()) -> Outcome:
        """Run a part of the flow in this attempt."""
        request = replace(
            self.request,
            tags=tags,
            skip_tags=(*skip_tags, *self.request.skip_tags),
            environment={JOINED: "1", ATTEMPT: str(self.number)},
        )
        (finished,) = self.stage.carry_out([request], 1)
        return outcome_of(finished, self._failures(), self.stage.follower.killed)

    @property
    def has_finalizers(self) -> bool:
        """Whether there may be something to clean up; a run without recorded settings changed nothing."""
        return (self.request.directory / "settings.yml").is_file() and self.request.wants(CLEANUP)

    def clean_up(self, outcome: Outcome) -> None:
        """Run the finalizers."""
        if not self.join(tags=(CLEANUP, CONCLUDE)).left_early:
            self.record_cleanup(outcome)

    def record_cleanup(self, outcome: Outcome) -> None:
        """Record that an interrupted run is finalized, if its finalizers ran without a failure."""
        if (
            outcome.status == "interrupted"
            and self.has_finalizers
            and all(each.interrupted for each in self._failures())
        ):
            # on a full disk this is not recorded; finalizing again does no harm
            with contextlib.suppress(PerfError):
                self.record({"finalized": utc_now()})

    def _failures(self) -> Sequence[Failure]:
        return failures_of(self.request.directory, self.number)
