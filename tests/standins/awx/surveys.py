"""Surveys as AWX 24.6.1 accepts and validates them, for its stand-in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_QUESTION_TYPES = {
    "text": str, "textarea": str, "password": str, "multiplechoice": str, "multiselect": str,
    "integer": int, "float": float,
}  # fmt: skip


class RefusedError(Exception):
    """A response of AWX with another status than 200."""

    def __init__(self, status: int, document: Any) -> None:
        super().__init__(document)
        self.status, self.document = status, document


def check_survey(body: Any) -> None:
    """Refuse a survey that AWX refuses.

    Raises:
        RefusedError: With AWX's reason.
    """

    def refuse_unless(condition: object, why: str) -> None:
        if not condition:
            raise RefusedError(400, {"error": why})

    for name, kind in (("name", str), ("description", str), ("spec", list)):
        refuse_unless(isinstance(body.get(name), kind), f"Field '{name}' is missing from survey spec.")
    refuse_unless(body["spec"], "'spec' doesn't contain any items.")
    seen: set[str] = set()
    for index, one in enumerate(body["spec"]):
        for name in ("type", "question_name", "variable", "required"):
            wanted = bool if name == "required" else str
            refuse_unless(isinstance(one.get(name), wanted), f"'{name}' in survey question {index}")
        refuse_unless(one["variable"] not in seen, f"'variable' '{one['variable']}' duplicated")
        seen.add(one["variable"])
        refuse_unless(one["type"] in _QUESTION_TYPES, f"'{one['type']}' in survey question {index}")
        default = one.get("default", "")
        refuse_unless(default == "" or isinstance(default, _QUESTION_TYPES[one["type"]]), f"default of {index}")
        for name in ("min", "max"):
            refuse_unless(one.get(name) is None or type(one[name]) is int, f"The {name} limit in {index}")
        if one["type"].startswith("multi"):
            refuse_unless("choices" in one, f"Survey question {index} must specify choices.")
            choices = [choice for choice in one["choices"].splitlines() if choice.strip()]
            refuse_unless(set(default.splitlines()) <= set(choices), "Default choice must be among the choices.")
            one["choices"] = "\n".join(choices)


def accepted_variables(
    questions: list[dict[str, Any]], ask_variables: bool, given: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the variables that a launch accepts, and AWX's messages about wrong answers."""
    accepted, errors = {}, []
    by_name = {one["variable"]: one for one in questions}
    for name, value in given.items():
        why = _wrong_answer(by_name[name], value) if name in by_name else ""
        if why:
            errors.append(why)
        elif name in by_name or ask_variables:
            accepted[name] = value
    return accepted, errors


def launched(questions: list[dict[str, Any]], template: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a job: the template's, then the survey's defaults, then the launch's.

    A null default is left out, and one that is a wrong answer, such as a list's text or an empty number.
    """
    defaults = {
        one["variable"]: one["default"]
        for one in questions
        if one.get("default") is not None and not _wrong_answer(one, one["default"])
    }
    return {**template, **defaults, **given}


def _wrong_answer(question: Mapping[str, Any], value: Any) -> str:
    name, kind = question["variable"], question["type"]
    choices = question.get("choices", "").splitlines()
    if kind in ("text", "textarea", "password"):
        wrong = not isinstance(value, str) or (question.get("max") and len(value) > question["max"])
    elif kind == "integer":
        wrong = type(value) is not int
    elif kind == "float":
        wrong = type(value) not in (int, float)
    elif kind == "multiselect":
        wrong = not isinstance(value, list) or not set(value) <= set(choices)
    else:
        wrong = value not in choices
    return f"Value {value} for '{name}' is no {kind}" if wrong else ""
