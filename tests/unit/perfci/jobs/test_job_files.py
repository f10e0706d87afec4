"""The ready-made job files name existing steps and commands; docs/ci.md lists their other checks."""

from __future__ import annotations

import re
import subprocess
import venv
from pathlib import Path

import pytest
import yaml
from perfci.jobs.steps import NAMES

from tests.unit.driver.conftest import ROOT

FILES = ROOT / "docs" / "ci"
# The step test creates the report.
CALLED = [name for name in NAMES if name != "plots"]
CALL = re.compile(r"exec perfdrv ci (?:step (\w+)|(run)) ")


def test_every_step_has_a_ci_operator_reference() -> None:
    workflow = yaml.safe_load((FILES / "prow/psap-perf-workflow.yaml").read_text())["workflow"]["steps"]
    named = [step["ref"] for stage in ("pre", "test", "post") for step in workflow[stage]]
    called = []
    for name in named:
        reference = yaml.safe_load((FILES / "prow" / f"{name}-ref.yaml").read_text())["ref"]
        assert reference["as"] == name
        assert reference["commands"] == f"{name}-commands.sh"
        # The registry requires the name of each variable in its step's environment, and documentation of all.
        assert all({"name", "default", "documentation"} == set(each) for each in reference["env"])
        called += CALL.findall((FILES / "prow" / reference["commands"]).read_text())
    assert [step for step, _run in called] == CALLED


def test_jobs_pass_only_variables_that_their_steps_have() -> None:
    config = yaml.safe_load((FILES / "prow/ci-operator-config.yaml").read_text())
    reference = yaml.safe_load((FILES / "prow/psap-perf-test-ref.yaml").read_text())["ref"]
    known = {each["name"] for each in reference["env"]}
    assert [test["as"] for test in config["tests"] if not set(test["steps"]["env"]) <= known] == []


def test_other_files_call_existing_steps() -> None:
    jenkins = [step for step, _run in CALL.findall((FILES / "jenkins/Jenkinsfile").read_text())]
    assert jenkins == CALLED
    workflow = yaml.safe_load((FILES / "github/perf.yml").read_text())
    (run,) = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "exec perfdrv" in str(step)]
    assert CALL.findall(run) == [("", "run")]


@pytest.mark.deep
def test_workflow_follows_the_github_schema(tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=True)
    programs = tmp_path / "bin"
    subprocess.run([str(programs / "pip"), "install", "--quiet", "check-jsonschema==0.39.0"], check=True)
    words = ["--builtin-schema", "vendor.github-workflows", str(FILES / "github/perf.yml")]
    command = [str(programs / "check-jsonschema"), *words]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.deep
def test_jenkinsfile_is_valid_groovy(tmp_path: Path) -> None:
    parser = ["-Dartifact=org.apache.groovy:groovy:4.0.29", f"-DoutputDirectory={tmp_path}"]
    subprocess.run(["mvn", "--batch-mode", "--quiet", "dependency:copy", *parser], check=True)
    (jar,) = tmp_path.glob("groovy-*.jar")
    compiler = ["java", "-cp", str(jar), "org.codehaus.groovy.tools.FileSystemCompiler", "-d", str(tmp_path / "out")]
    text = (FILES / "jenkins/Jenkinsfile").read_text()
    for content, code in ((text, 0), (text.replace("stages {", "stages {{"), 1)):
        (tmp_path / "Jenkinsfile").write_text(content)
        command = [*compiler, str(tmp_path / "Jenkinsfile")]
        parsed = subprocess.run(command, capture_output=True, text=True, check=False)
        assert parsed.returncode == code, parsed.stdout + parsed.stderr
