"""The steps of a job, in order, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, CLEANUP_BEFORE, PREPARE, TEST
from perfdrv.errors import UsageError, unknown


@dataclass(frozen=True, slots=True)
class JobStep:
    """A step.

    Attributes:
        tag: Tag of the flow's plays that it runs; empty for a step that only reads the run directory.
        always: Whether it runs after a failed step.
    """

    name: str
    help: str
    tag: str = ""
    always: bool = False


STEPS = (
    JobStep("pre_cleanup", "Delete what earlier runs left in the cluster.", CLEANUP_BEFORE),
    JobStep("prepare", "Prepare the cluster.", PREPARE),
    JobStep("test", "Run the test and capture its state.", TEST),
    JobStep("post_cleanup", "Clean up, even after a failed test.", CLEANUP, always=True),
    JobStep("plots", "Generate the report again.", always=True),
    JobStep("judge", "Judge the run by its history, and add it to the history.", always=True),
    JobStep("export", "Export the run to the store in its settings.", always=True),
)
NAMES = tuple(step.name for step in STEPS)


@dataclass(frozen=True, slots=True)
class Choice:
    """The steps to skip, or the only steps to run."""

    skip: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    @classmethod
    def of(cls, skip: Iterable[str], only: Iterable[str]) -> Choice:
        """Return the choice.

        Raises:
            UsageError: A step is unknown.
        """
        chosen = cls(tuple(skip), tuple(only))
        for name in (*chosen.skip, *chosen.only):
            step_named(name)
        return chosen

    def left_out(self, name: str) -> str:
        """Return why a step is left out; empty if it runs."""
        if name in self.skip:
            return f"{name} is skipped on request"
        return f"only {', '.join(self.only)} requested" if self.only and name not in self.only else ""

    def with_those_of(self, other: Choice) -> Choice:
        """Return a choice that leaves out what either of the two leaves out."""
        only = tuple(name for name in other.only if name in self.only) if self.only and other.only else None
        return Choice((*self.skip, *other.skip), self.only or other.only if only is None else only)


def step_named(name: str) -> JobStep:
    """Return the step with this name.

    Raises:
        UsageError: There is no such step.
    """
    for step in STEPS:
        if step.name == name:
            return step
    raise UsageError(unknown("step", name, NAMES, f"the steps are {', '.join(NAMES)}"))


def failed_before(step: JobStep, statuses: Mapping[str, str]) -> str:
    """Return the first earlier step that is neither ok nor skipped, or an empty string."""
    earlier = NAMES[: NAMES.index(step.name)]
    return next((name for name in earlier if statuses.get(name, "ok") not in ("ok", "skipped")), "")


def tags_left_out(choice: Choice) -> tuple[str, ...]:
    """Return the tags of the plays of steps that are left out."""
    return tuple(step.tag for step in STEPS if step.tag and choice.left_out(step.name))
