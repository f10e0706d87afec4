"""One run from its command line to its last line: directory, Ansible, end, report."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.provenance import command_line, git_state, versions
from ansible_collections.psap.perf.plugins.module_utils.run.directory import STOP_FILE, new_run_directory

from perfdrv.follow import Follower
from perfdrv.interrupts import Interrupts
from perfdrv.outcome import Outcome, settle
from perfdrv.private_directory import remove_leftovers
from perfdrv.processes import Finished, carry_out
from perfdrv.project import Project
from perfdrv.request import RunRequest
from perfdrv.supervised import adopt_orphans
from perfdrv.views import Scene, View, open_view


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run.

    Attributes:
        flow: its name, or `toolbox` for a single command.
        playbook: usually that of the flow.
        extra_vars: what follows each `-e`, in order.
        directory: of a run that goes on; None makes a new one below `runs_root`.
        presets: names, for a run.json that Ansible did not come to write.
    """

    project: Project
    flow: str
    playbook: Path
    runs_root: Path
    extra_vars: tuple[str, ...] = ()
    inventory: Path | None = None
    site: str | None = None
    tags: tuple[str, ...] = ()
    skip_tags: tuple[str, ...] = ()
    check: bool = False
    diff: bool = False
    verbosity: int = 0
    directory: Path | None = None
    presets: Sequence[str] = field(default=())

    def request(self, directory: Path) -> RunRequest:
        """The call of Ansible that carries out the whole plan."""
        return RunRequest(
            project=self.project.root,
            playbook=self.playbook,
            run_directory=directory,
            extra_vars=self.extra_vars,
            inventory=self.inventory,
            tags=self.tags,
            skip_tags=self.skip_tags,
            check=self.check,
            diff=self.diff,
            verbosity=self.verbosity,
        )

    def facts(self) -> dict[str, Any]:
        """What run.json says at the start of an attempt that the driver itself begins."""
        # a run that goes on keeps the presets it was made with
        presets = {"presets": list(self.presets)} if self.directory is None else {}
        return {
            **presets,
            "flow": self.flow,
            "check": self.check,
            "tags": {"run": list(self.tags), "skip": list(self.skip_tags)},
            "site": self.site,
            "argv": command_line(["perfdrv", *sys.argv[1:]]),
            "versions": versions(),
            "git": git_state(self.project.root),
        }


def launch(plan: Plan) -> Outcome:
    """Carry out a plan with one Ansible, show it, and leave a run directory that says how it ended."""
    with Interrupts() as interrupts:
        directory = open_directory(plan)
        with closing(Stage(plan, directory, interrupts)) as stage:
            (finished,) = stage.carry_out([plan.request(directory)], 1)
            return settle(finished, plan.facts(), stage.follower)


def open_directory(plan: Plan) -> Path:
    """The run's directory: a new one, or that of the run that goes on, without its old request to stop."""
    remove_leftovers()
    if plan.directory is None:
        return new_run_directory(plan.runs_root, plan.flow)
    (plan.directory / STOP_FILE).unlink(missing_ok=True)
    return plan.directory


class Stage:
    """Where the Ansible processes of one run are started, followed and brought to an end."""

    def __init__(self, plan: Plan, directory: Path, interrupts: Interrupts, view: View | None = None) -> None:
        adopt_orphans()
        self._plan = plan
        scene = Scene(flow=plan.flow, site=plan.site or "", directory=directory)
        self.follower = Follower(scene, view or open_view(), interrupts, plan.verbosity)

    def carry_out(self, requests: Iterable[RunRequest], limit: int) -> Iterator[Finished]:
        """Carry out requests, at most *limit* at once; each one as soon as it has ended."""
        for finished in carry_out(requests, limit, self.follower):
            self.follower.ended(finished.request)
            yield finished

    def close(self) -> None:
        """Kill what is left, and draw the last picture."""
        self.follower.close()
