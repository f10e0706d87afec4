"""Lifecycles that a user declares for a kind that is not shipped: Argo's Workflow is the example."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.clock import stamp
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import JOB, lifecycle_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.own_lifecycles import read_lifecycles
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Tracker

from tests.programs import PROJECT

EXAMPLE = PROJECT / "tests/data/kinds/lifecycles.yml"


def workflow(**status: Any) -> dict[str, Any]:
    metadata = {"name": "w-00001", "namespace": "test", "uid": "u1", "creationTimestamp": "2026-11-21T00:00:00Z"}
    return {"metadata": metadata, "status": status}


def test_declared_signs_become_milestones_with_time_and_reason() -> None:
    (lifecycles,) = yaml.safe_load(EXAMPLE.read_text()).values()
    own = read_lifecycles(lifecycles)
    workflows = Tracker("Workflow", lifecycle_of("Workflow", own))
    states = [
        workflow(),
        workflow(phase="Running", startedAt="2026-11-21T00:00:02Z"),
        workflow(phase="Error", finishedAt="2026-11-21T00:00:09Z", message="no such image"),
    ]
    found = [row for state in states for row in workflows.observe(state, 1.0)]
    assert [(row.transition, row.stamp, row.reason) for row in found] == [
        ("created", stamp("2026-11-21T00:00:00Z"), None),
        ("started", stamp("2026-11-21T00:00:02Z"), None),
        ("failed", stamp("2026-11-21T00:00:09Z"), "no such image"),
    ]
    assert lifecycle_of("Workflow", own).ends == {"completed": "completed", "failed": "failed"}
    assert lifecycle_of("Job", own) is JOB


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"Workflow": {"started": {"condition": "Running"}}}, "Workflow needs the milestone completed"),
        ({"Workflow": {"complete": {"condition": "Done"}}}, "unknown key complete; did you mean completed"),
        ({"Workflow": {"completed": {"condtion": "Done"}}}, "Workflow.completed has the unknown key condtion; did you"),
        ({"Workflow": {"completed": {}}}, "Workflow.completed: a sign needs either condition or when"),
        ({"Workflow": {"completed": {"condition": "Done", "when": "a"}}}, "a sign needs either condition or when"),
        ({"Workflow": {"completed": {"when": "status.["}}}, "Workflow.completed: status.\\[ is not JMESPath"),
        ({"Workflow": {"completed": {"condition": 1}}}, "Workflow.completed.condition must be text"),
        ({"Workflow": {"completed": "Done"}}, "Workflow.completed must be a dictionary"),
        ({"Workflow": ["completed"]}, "Workflow must be a dictionary"),
        ({"Pod": {"completed": {"condition": "Done"}}}, "the milestones of a Pod cannot be declared"),
    ],
)
def test_invalid_lifecycle_is_refused_with_its_place(document: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_lifecycles(document)


def test_time_that_is_none_of_kubernetes_is_refused() -> None:
    own = read_lifecycles({"Workflow": {"completed": {"when": "status.phase == 'Done'", "time": "status.seconds"}}})
    for seconds in (12, "12 s"):
        with pytest.raises(UsageError, match=r"invalid time .?12.* of status.phase == 'Done': use a field"):
            Tracker("Workflow", lifecycle_of("Workflow", own)).observe(workflow(phase="Done", seconds=seconds), 1.0)


def test_example_of_the_documentation_is_the_tested_one() -> None:
    text = (PROJECT / "docs/scale-test.md").read_text()
    lines = EXAMPLE.read_text().splitlines()
    assert [line for line in lines if line not in text.splitlines()] == []
    assert (EXAMPLE.parent / "statefulset.yml.j2").read_text() in text
