"""The surveys of AWX: one question for each setting; an empty answer leaves the setting to presets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.table import generators
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.survey import NOT_SET, survey, unanswered
from ansible_collections.psap.perf.plugins.module_utils.settings.types import convert_text, problems

from tests.standins.awx.surveys import accepted_variables, check_survey, launched

PROJECT = Project(Path(__file__).parents[3])
OBJECTS = yaml.safe_load((PROJECT.root / "awx/vars/objects.yml").read_text())
SHARED = OBJECTS["awx_shared_settings"]


def questions(flow: str, **values: object) -> dict[str, dict[str, object]]:
    return {one["variable"]: one for one in survey(PROJECT, flow, SHARED, values)["spec"]}


@pytest.mark.parametrize("flow", PROJECT.flows)
def test_awx_accepts_the_survey_and_an_empty_page_sets_nothing(flow: str) -> None:
    spec = survey(PROJECT, flow, SHARED)
    check_survey(spec)
    # The variables of a launch without answers
    defaults = launched(spec["spec"], {}, {})

    assert set(unanswered({"awx_job_id": 7, **defaults}, PROJECT)) == set(defaults)
    assert defaults


@pytest.mark.parametrize("flow", PROJECT.flows)
def test_every_setting_except_secrets_is_asked_for(flow: str) -> None:
    declared = [option.name for option in PROJECT.flow(flow).settings if not option.secret]

    assert list(questions(flow)) == ["perf_presets", *declared, *SHARED]


@pytest.mark.parametrize("flow", PROJECT.flows)
def test_every_choice_is_a_value_of_the_setting(flow: str) -> None:
    options = {option.name: option for option in PROJECT.settings_of(flow)}
    chosen = [
        (options[name], choice)
        for name, one in questions(flow).items()
        for choice in str(one.get("choices", "")).splitlines()
        if one["type"] == "multiplechoice" and choice != NOT_SET
    ]

    assert chosen
    assert [problem for option, text in chosen for problem in problems(option, convert_text(option, text))] == []


def test_question_type_follows_the_setting() -> None:
    asked = questions("scale_test")

    assert asked["scale_test_pods"]["type"] == "integer"
    assert asked["scale_test_rate"]["type"] == "float"
    # A value or a list of values
    assert asked["scale_test_count"]["type"] == "text"
    assert "several as [a, b]" in str(asked["scale_test_count"]["question_description"])
    assert asked["scale_test_gang"]["choices"] == "not set\ntrue\nfalse"
    assert asked["scale_test_tenants"]["type"] == "textarea"
    assert str(asked["scale_test_count"]["question_description"]).endswith("else 100.")
    assert asked["perf_presets"]["type"] == "multiselect"
    assert questions("fine_tuning")["fine_tuning_remove"]["type"] == "multiselect"


TEMPLATE = {
    "clusters_lock": "wait", "scale_test_gang": True, "scale_test_pods": 2, "scale_test_rate": "1.5",
    "scale_test_count": [4, 8], "scale_test_tenants": [], "scale_test_queue": "team-a",
    "perf_presets": ["scale_test_smoke"], "export_to": "s3://bucket/runs",
}  # fmt: skip


@pytest.mark.parametrize("name", TEMPLATE)
def test_launch_without_answers_keeps_the_template_variables(name: str) -> None:
    spec = survey(PROJECT, "scale_test", SHARED, TEMPLATE)
    check_survey(spec)
    option = PROJECT.setting(name)

    value = launched(spec["spec"], TEMPLATE, {})[name]

    meant = convert_text(option, value) if option and isinstance(value, str) else value
    assert meant == (1.5 if name == "scale_test_rate" else TEMPLATE[name])


def test_defaults_of_questions_are_valid_answers() -> None:
    asked = questions("scale_test", **TEMPLATE)
    given = {name: one["default"] for name, one in asked.items() if name in TEMPLATE}
    # AWX's page sends a multiple select as a list.
    answers = {**given, "perf_presets": str(given["perf_presets"]).split("\n")}

    assert accepted_variables(list(asked.values()), False, answers) == (answers, [])
    assert asked["clusters_lock"]["default"] == "wait"
    assert "Without an answer: wait, which the template sets." in str(asked["clusters_lock"]["question_description"])
    assert questions("fine_tuning", fine_tuning_remove=["namespace"])["fine_tuning_remove"]["default"] == "namespace"


@pytest.mark.parametrize("flow", ["kserve", "llm_d"])
def test_load_generator_of_a_package_is_an_answer(flow: str) -> None:
    name = f"{flow}_load_generator"
    question = questions(flow)[name]

    assert accepted_variables([question], False, {name: "of_a_package"}) == ({name: "of_a_package"}, [])
    assert [one for one in generators() if one not in str(question["question_description"])] == []


def test_value_invalid_as_an_answer_is_not_asked_for() -> None:
    templated = {"clusters_lock": "{{ 'wait' }}", "scale_test_tenants": [{"namespace": "{{ one }}"}]}

    asked = questions("scale_test", scale_test_workload_kind=["Job", "Pod"], **templated)

    assert not {"scale_test_workload_kind", *templated} & set(asked)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("clusters_lock", "await", "refuse, wait"),
        ("scale_test_pods", "many", "must be"),
        ("scale_test_gang", 3, "must be"),
    ],
)
def test_invalid_template_value_is_refused(name: str, value: object, why: str) -> None:
    with pytest.raises(UsageError, match=f"the template's extra variable {name} .*{why}"):
        questions("scale_test", **{name: value})


@pytest.mark.parametrize("name", ["rhoai_pull_secret", "clusters_lok", "scale_test_count"])
def test_shared_setting_that_cannot_be_asked_for_is_left_out(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        survey(PROJECT, "scale_test", [name])


def test_empty_texts_are_values_outside_awx() -> None:
    given = {"scale_test_project": "", "scale_test_image": "not set", "scale_test_queue": None, "other": ""}

    assert list(unanswered(given, PROJECT)) == []
    assert list(unanswered({"awx_job_id": 1, **given}, PROJECT)) == list(given)[:3]


def test_each_flow_has_awx_templates() -> None:
    assert sorted(one["name"] for one in OBJECTS["awx_flows"]) == list(PROJECT.flows)
    assert {one["flow"] for one in OBJECTS["awx_schedules"]} <= set(PROJECT.flows)
    assert {one["template"] for one in OBJECTS["awx_schedules"]} == {"workflow", "cleanup"}


def test_credentials_set_variables_that_are_read() -> None:
    class Loader(yaml.SafeLoader):
        """Read ``!unsafe`` of Ansible's YAML."""

    Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))  # type: ignore[arg-type]
    text = (PROJECT.root / "awx/vars/credential_types.yml").read_text()
    injectors = [one["injectors"] for one in yaml.load(text, Loader)["awx_credential_types"]]
    settings = {name: value for one in injectors for name, value in one.get("extra_vars", {}).items()}
    variables = {name for one in injectors for name in one.get("env", {})}
    code = "".join(
        path.read_text()
        for folder in ("driver/src", "analysis/src", "collections/ansible_collections/psap/perf/plugins")
        for path in (PROJECT.root / folder).rglob("*.py")
    )

    report = (PROJECT.root / "playbooks/report.yml").read_text()

    assert [name for name in settings if PROJECT.setting(name) is None and name not in report] == []
    references = [value.removeprefix("env:") for value in settings.values() if value.startswith("env:")]
    assert set(references) <= variables
    ours = {name for name in variables if name.startswith("PERF_")} - set(references)
    assert [name for name in ours if not re.search(rf"\b{name}\b", code)] == []
