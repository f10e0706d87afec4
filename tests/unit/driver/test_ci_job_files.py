"""The ready-made job files name steps and commands that exist; docs/ci.md says what else they were checked with."""

from __future__ import annotations

import re

import yaml
from perfdrv.ci.steps import NAMES, STEPS

from .conftest import ROOT

FILES = ROOT / "docs" / "ci"
CALL = re.compile(r"exec perfdrv ci (?:step (\w+)|(run)) ")


def test_every_step_with_plays_has_a_reference_of_ci_operator_in_its_place() -> None:
    workflow = yaml.safe_load((FILES / "prow/psap-perf-workflow.yaml").read_text())["workflow"]["steps"]
    named = [step["ref"] for stage in ("pre", "test", "post") for step in workflow[stage]]
    called = []
    for name in named:
        reference = yaml.safe_load((FILES / "prow" / f"{name}-ref.yaml").read_text())["ref"]
        assert reference["as"] == name
        assert reference["commands"] == f"{name}-commands.sh"
        # the registry wants the name of each variable in the environment of its step, and documentation of all
        assert all({"name", "default", "documentation"} == set(each) for each in reference["env"])
        called += CALL.findall((FILES / "prow" / reference["commands"]).read_text())
    assert [step for step, _run in called] == [step.name for step in STEPS if step.tag]


def test_jobs_give_their_steps_variables_that_these_have() -> None:
    config = yaml.safe_load((FILES / "prow/ci-operator-config.yaml").read_text())
    reference = yaml.safe_load((FILES / "prow/psap-perf-test-ref.yaml").read_text())["ref"]
    known = {each["name"] for each in reference["env"]}
    assert [test["as"] for test in config["tests"] if not set(test["steps"]["env"]) <= known] == []


def test_other_files_call_steps_that_exist() -> None:
    jenkins = [step for step, _run in CALL.findall((FILES / "jenkins/Jenkinsfile").read_text())]
    assert jenkins == [step.name for step in STEPS if step.tag]
    workflow = yaml.safe_load((FILES / "github/perf.yml").read_text())
    (run,) = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "exec perfdrv" in str(step)]
    assert CALL.findall(run) == [("", "run")]
    assert set(jenkins) <= set(NAMES)
