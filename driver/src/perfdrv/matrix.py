"""The matrix of a flow: its cells one after the other in one Ansible, or side by side in several."""

from __future__ import annotations

from perfdrv.launch import Plan, launch
from perfdrv.outcome import Outcome


def launch_plan(plan: Plan, jobs: int) -> Outcome:
    """Run a flow."""
    return launch(plan)


def resume_plan(plan: Plan, jobs: int) -> Outcome:
    """Go on with a run."""
    return launch(plan)
