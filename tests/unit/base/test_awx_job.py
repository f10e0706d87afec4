"""AWX jobs, detected by the variables and the environment that AWX 24.6.1 sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.utils.display import Display
from ansible_collections.psap.perf.plugins.action import conclude
from ansible_collections.psap.perf.plugins.module_utils.base.awx_job import AwxJob
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure
from ansible_collections.psap.perf.plugins.plugin_utils import ansible_private

COMMIT = "83512f4b00000000000000000000000000000000"
ENVIRONMENT = {"AWX_HOST": "https://awx.example.com", "PROJECT_REVISION": COMMIT, "JOB_ID": "41"}
VARIABLES = {"awx_job_id": 41, "awx_inventory_name": "psap.perf dgx", "awx_project_scm_branch": "main"}


def test_job_of_a_workflow_links_to_the_workflow() -> None:
    job = AwxJob.read({**VARIABLES, "awx_workflow_job_id": 17}, ENVIRONMENT)

    assert job == AwxJob("https://awx.example.com/#/jobs/workflow/17", "psap.perf dgx", COMMIT)


def test_job_without_a_workflow_has_no_link() -> None:
    assert AwxJob.read(VARIABLES, ENVIRONMENT) == AwxJob("", "psap.perf dgx", COMMIT)
    # An ad-hoc container of the same image
    assert AwxJob.read({}, ENVIRONMENT) is None


@pytest.mark.parametrize(("branch", "commit"), [("", COMMIT), ("main", COMMIT), ("a-fix", "")])
def test_commit_is_recorded_for_the_projects_branch_only(branch: str, commit: str) -> None:
    job = AwxJob.read({**VARIABLES, "awx_job_scm_branch": branch}, ENVIRONMENT)

    assert job and job.commit == commit


@pytest.mark.parametrize(
    ("temporary", "shown"), [(None, "/runs/one/003__scale_test__submit"), ("/runs/one", "003__scale_test__submit")]
)
def test_first_failure_names_its_place_in_the_export(temporary: str | None, shown: str) -> None:
    directory = "/runs/one/003__scale_test__submit"
    failure = Failure("", 1, "sutest", None, "submit", "", "40 lost", 1, "", directory)

    assert conclude._summary([failure], Path(temporary) if temporary else None) == f"submit: 40 lost (see {shown})"


def test_worker_output_bypasses_the_ansible_runner_wrapper(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[Any, ...]] = []

    class Queue:
        """Record a worker's messages to the main process."""

        def send_display(self, *words: str) -> None:
            sent.append(words)

    def wrapper(_display: Display, text: str) -> None:
        raise AssertionError(f"writes to the worker's stdout: {text}")

    monkeypatch.setattr(Display, "display", wrapper)
    monkeypatch.setattr(Display(), "_final_q", Queue())

    ansible_private.show("waits: the cluster is in use")

    assert sent == [("display", "waits: the cluster is in use")]
