"""The steps of a job, in their order, and which of them are carried out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, CLEANUP_BEFORE, PREPARE, TEST
from perfdrv.errors import UsageError, unknown


@dataclass(frozen=True, slots=True)
class JobStep:
    """One step.

    Attributes:
        tag: of the flow's plays that it runs; empty for one that only reads what the run left.
        always: it is carried out whatever became of those before it.
    """

    name: str
    help: str
    tag: str = ""
    always: bool = False


STEPS = (
    JobStep("pre_cleanup", "Clean up what former runs left in the cluster.", CLEANUP_BEFORE),
    JobStep("prepare", "Prepare the cluster.", PREPARE),
    JobStep("test", "Run the test and capture its state.", TEST),
    JobStep("post_cleanup", "Clean up, whatever became of the test.", CLEANUP, always=True),
    JobStep("plots", "Make the report again.", always=True),
    JobStep("export", "Export the run to the store that its settings name.", always=True),
)
NAMES = tuple(step.name for step in STEPS)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which steps are left out: those that are named, or all but those that are named."""

    skip: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    @classmethod
    def of(cls, skip: Iterable[str], only: Iterable[str]) -> Choice:
        """The choice.

        Raises:
            UsageError: a step is unknown.
        """
        chosen = cls(tuple(skip), tuple(only))
        for name in (*chosen.skip, *chosen.only):
            step_named(name)
        return chosen

    def left_out(self, name: str) -> str:
        """Why a step is left out; empty where it is carried out."""
        if name in self.skip:
            return f"told to skip {name}"
        return f"told to do only {', '.join(self.only)}" if self.only and name not in self.only else ""

    def with_those_of(self, other: Choice) -> Choice:
        """Both choices: left out is what either leaves out."""
        only = tuple(name for name in other.only if name in self.only) if self.only and other.only else None
        return Choice((*self.skip, *other.skip), self.only or other.only if only is None else only)


def step_named(name: str) -> JobStep:
    """The step with this name.

    Raises:
        UsageError: there is none.
    """
    for step in STEPS:
        if step.name == name:
            return step
    raise UsageError(unknown("step", name, NAMES, f"the steps are {', '.join(NAMES)}"))


def failed_before(step: JobStep, statuses: Mapping[str, str]) -> str:
    """The first step before this one that did not end well; empty if there is none."""
    earlier = NAMES[: NAMES.index(step.name)]
    return next((name for name in earlier if statuses.get(name, "ok") not in ("ok", "skipped")), "")


def tags_left_out(choice: Choice) -> tuple[str, ...]:
    """Tags of the plays of steps that are left out."""
    return tuple(step.tag for step in STEPS if step.tag and choice.left_out(step.name))


def anything_left(choice: Choice, among: Collection[JobStep] = STEPS) -> bool:
    """Whether any step is carried out."""
    return any(not choice.left_out(step.name) for step in among)
