"""The survey that AWX shows before it starts a flow, generated from the flow's declarations."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.awx_job import JOB
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import load_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.settings.files import COMMAND_LINE, is_template
from ansible_collections.psap.perf.plugins.module_utils.settings.fitting import presets_of
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import names_in
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option
from ansible_collections.psap.perf.plugins.module_utils.settings.types import convert_text, problems

PRESETS = "perf_presets"
NOT_SET = "not set"
"""The choice for no answer; it is the first one because AWX's page may preselect the first."""
# the limits that AWX's own page writes for a text without limits
_LONGEST_TEXT, _LONGEST_DOCUMENT = 1024, 16384


def survey(
    project: Project, flow: str, shared: Iterable[str] = (), values: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the survey of a flow for AWX's ``survey_spec``: presets, its settings, and the *shared* settings.

    No question is required: an answer is an extra variable, which overrides presets. The description states the value
    without an answer. Secrets are left out.

    Args:
        values: The template's own extra variables. In AWX a survey's default overrides them, so they become the
            defaults. A setting whose value is not a possible answer, such as a Jinja template, has no question.

    Raises:
        UsageError: If the flow or a shared setting is unknown, a shared setting is a secret, or a value is invalid.
    """
    spec = project.flow(flow)
    others = [_shared(project, name) for name in shared]
    asked = [option for option in (*spec.settings, *others) if not option.secret]
    questions = [_presets_question(project, flow, values), *(_question_with(option, values) for option in asked)]
    return {"name": "", "description": spec.short_description, "spec": [one for one in questions if one]}


def unanswered(extra: Mapping[str, Any], project: Project) -> Iterator[str]:
    """Yield the names of a job's extra variables without an answer.

    AWX passes an empty text for them, which ansible-core 2.19 and later convert to null.

    Outside a job of AWX an empty text is a value.
    """
    if JOB not in extra:
        return
    for name, value in extra.items():
        asked = name == PRESETS or project.setting(name) is not None
        if asked and (value is None or (isinstance(value, str) and value in ("", NOT_SET))):
            yield name


def misread_texts(extra: Mapping[str, Any], project: Project, read: Callable[[str], Path | None]) -> dict[str, str]:
    """Return the original texts of answers that were read as other types.

    Ansible-core 2.19 and later read AWX's ``!unsafe '2.10'`` as a number.

    Args:
        extra: The job's extra variables.
        project: The project that declares their types.
        read: Returns the file from which a variable was read.
    """
    if JOB not in extra:
        return {}
    texts: dict[str, str] = {}
    for name, value in extra.items():
        option = project.setting(name)
        if option is None or option.type not in ("str", "path") or value is None or isinstance(value, str | list):
            continue
        path = read(name)
        written = _as_written(path).get(str(name)) if path is not None else None
        if isinstance(written, str):
            texts[name] = written
    return texts


class _Written(yaml.SafeLoader):
    """Reads a value marked as unsafe as text."""


_Written.add_constructor("!unsafe", lambda _loader, node: node.value)


@functools.cache
def _as_written(path: Path) -> Mapping[str, Any]:
    document = load_yaml(path.read_text(encoding="utf-8"), _Written)
    return document if isinstance(document, dict) else {}


def _shared(project: Project, name: str) -> Option:
    options = {} if project.shared is None else {option.name: option for option in project.shared.settings}
    if name not in options:
        raise UsageError(f"unknown shared setting {name}{did_you_mean(name, options)}")
    if options[name].secret:
        raise UsageError(f"{name} is a secret, which cannot be in a survey; use a credential")
    return options[name]


def _presets_question(project: Project, flow: str, values: Mapping[str, Any]) -> dict[str, Any]:
    names = presets_of(project, flow)
    # other presets are for other flows
    chosen = [name for name in names_in(values.get(PRESETS, []), COMMAND_LINE) if name in names]
    text = "Named sets of settings, applied in the order in which they are chosen; a later one wins."
    if not names:
        return _survey_question(PRESETS, text, "text", min=0, max=_LONGEST_TEXT)
    return _survey_question(PRESETS, text, "multiselect", choices="\n".join(names), default="\n".join(chosen))


def _question_with(option: Option, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the question, with the template's own value as its default; None if that is not a possible answer."""
    if option.name not in values:
        return _question(
            option, f"Without an answer: the value from presets or the site, else {_shown(option.default)}."
        )
    value = _convert_value(option, values[option.name])
    question = _question(option, f"Without an answer: {_shown(value)}, which the template sets.")
    default = _answer(question, value)
    return None if default is None or is_template(default) else {**question, "default": default}


def _convert_value(option: Option, value: Any) -> Any:
    """Return the template's value of a setting, converted to the declared type.

    Raises:
        UsageError: If the value is invalid for the setting.
    """
    try:
        meant = convert_text(option, value) if isinstance(value, str) else value
    except ValueError as error:
        raise UsageError(f"the template's extra variable {option.name} {error}") from error
    for leaf, why in problems(option, meant):
        raise UsageError(f"the template's extra variable {'.'.join(filter(None, (option.name, leaf)))} {why}")
    return meant


def _answer(question: Mapping[str, Any], value: Any) -> Any:
    """Return the answer for *value*, or None."""
    kind = question["type"]
    if kind in ("integer", "float"):
        return value if isinstance(value, int | float) else None
    if kind == "multiselect":
        return "\n".join(map(str, value)) if isinstance(value, list) else None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if kind != "multiplechoice" or text in question["choices"].splitlines() else None


def _question(option: Option, unanswered_means: str) -> dict[str, Any]:
    description = _description(option, unanswered_means)
    choices = [str(choice) for choice in option.choices if str(choice)]
    if option.type == "bool":
        choices = ["true", "false"]
    if option.type == "list" and choices:
        return _survey_question(option.name, description, "multiselect", choices="\n".join(choices))
    if choices:
        chosen = "\n".join((NOT_SET, *choices))
        return _survey_question(option.name, description, "multiplechoice", choices=chosen, default=NOT_SET)
    if option.type in ("list", "dict", "raw"):
        return _survey_question(option.name, description, "textarea", min=0, max=_LONGEST_DOCUMENT)
    # for AWX, a value that may be a list is not a number
    if option.type in ("int", "float") and not option.varies:
        return _survey_question(option.name, description, "integer" if option.type == "int" else "float")
    return _survey_question(option.name, description, "text", min=0, max=_LONGEST_TEXT)


def _survey_question(variable: str, description: str, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "variable": variable,
        "question_name": variable,
        "question_description": description,
        "type": kind,
        "required": False,
        "default": "",
        **more,
    }


def _description(option: Option, unanswered_means: str) -> str:
    kind = option.type if option.elements is None else f"{option.type} of {option.elements}"
    parts = [option.help]
    if option.varies and not option.choices and option.type != "bool":
        parts.append(f"One value ({kind}), or several as [a, b]: each is a cell of the matrix.")
    elif option.type in ("list", "dict", "raw") and not option.choices:
        parts.append(f"As YAML ({kind}).")
    return " ".join(part for part in (*parts, unanswered_means) if part)


def _shown(default: Any) -> str:
    if default in (None, "", [], {}):
        return "nothing"
    if isinstance(default, bool):
        return "true" if default else "false"
    return "the declared default" if isinstance(default, dict | list) else str(default)
