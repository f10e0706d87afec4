"""The job of AWX in which a playbook runs, from the variables and the environment that AWX gives to each job."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JOB = "awx_job_id"
_WORKFLOW, _INVENTORY = "awx_workflow_job_id", "awx_inventory_name"
_PROJECT_BRANCH, _JOB_BRANCH = "awx_project_scm_branch", "awx_job_scm_branch"
_HOST, _REVISION = "AWX_HOST", "PROJECT_REVISION"


@dataclass(frozen=True, slots=True)
class AwxJob:
    """A job of AWX.

    Attributes:
        workflow: Address of the workflow job that started it; empty outside a workflow.
        inventory: Name of its inventory in AWX.
        commit: Commit of the project; empty if AWX does not pass it on.
    """

    workflow: str
    inventory: str
    commit: str

    @classmethod
    def read(cls, variables: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> AwxJob | None:
        """Return the job in which this process runs, or None outside AWX.

        Args:
            variables: Extra vars.
            environment: Environment variables; by default those of this process.
        """
        if JOB not in variables:
            return None
        environment = os.environ if environment is None else environment
        number = variables.get(_WORKFLOW)
        workflow = f"{environment.get(_HOST, '').rstrip('/')}/#/jobs/workflow/{number}" if number else ""
        return cls(workflow, str(variables.get(_INVENTORY) or ""), _commit(variables, environment))


def _commit(variables: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """Return the commit of the project's copy; AWX passes it on only for the project's own branch."""
    branch = variables.get(_JOB_BRANCH)
    if branch and branch != variables.get(_PROJECT_BRANCH):
        return ""
    return environment.get(_REVISION, "")
