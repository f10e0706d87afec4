"""Problems of settings, with the same messages at a run's start and in ``perfdrv settings check``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import HIDDEN
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean, nearest
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import parse_reference
from ansible_collections.psap.perf.plugins.module_utils.settings.files import VAULTED, is_template
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.rules import broken_rules, names_in_expression
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import FlowSpec, Option
from ansible_collections.psap.perf.plugins.module_utils.settings.types import problems

# Prefixes of Ansible, AWX and the collection itself, which check their variables themselves
FOREIGN = ("ansible_", "awx_", "tower_", "perf_", "preset_", "_")
_OWN = (
    "perf_presets", "perf_replay", "perf_expect_commands", "perf_pull_arguments",
    "perf_kubeconfig", "perf_kube_context", "perf_kube_patience", "perf_kube_proxy",
)  # fmt: skip
# how similar two names must be for one to count as a misspelling of the other
_ALIKE = 0.88


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem; ``where`` is a file and line, or ``command line``."""

    where: str
    message: str
    fatal: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def unknown_name(project: Project, key: str, where: str, *, must_be_ours: bool) -> Finding | None:
    """Return the finding for the name of a variable, or of a leaf of one; None if the name is valid.

    Args:
        project: The project that declares the names.
        key: A name such as ``fine_tuning_gpu`` or ``fine_tuning_hyper_parameters.r``; TOPSAIL's names have more dots.
        where: The place of the name.
        must_be_ours: Whether an undeclared name is wrong even if it resembles no declared one: true for presets and
            the command line, false for a site's files, which may have additional variables.
    """
    name = key.partition(".")[0]
    if name.startswith(FOREIGN):
        close = nearest(name, _OWN, _ALIKE) if name.startswith("perf_") and name not in _OWN else None
        return None if close is None else Finding(where, f"unknown variable {name}; did you mean {close}?")
    if project.option(name) is not None:
        return None
    today = todays_name(project, key)
    if today is not None:
        return Finding(where, f"{key} was renamed; use {today}")
    if must_be_ours or project.is_ours(name):
        way_out = did_you_mean(name, project.names) or "; perfdrv settings show lists the settings of a flow"
        return Finding(where, f"unknown setting or argument {name}{way_out}")
    close = nearest(name, project.names, _ALIKE)
    return None if close is None else Finding(where, f"unknown setting {name}; did you mean {close}?")


def todays_name(project: Project, key: str) -> str | None:
    """Return the current name of a renamed variable, or of a leaf below one; None if it was not renamed."""
    parts = key.split(".")
    for count in range(len(parts), 0, -1):
        today = project.renamed.get(".".join(parts[:count]))
        if today is not None:
            return ".".join((today, *parts[count:]))
    return None


def wrong_value(option: Option, value: Any, where: str) -> Iterator[Finding]:
    """Yield the problems of the *value* of *option*: its type, its choices, or a secret in plain text.

    An empty text is not a secret.
    """
    wrong = list(_wrong_references(option, value, where)) if option.secret else []
    if wrong:
        yield from wrong
        return
    for leaf, problem in problems(option, value):
        yield Finding(where, f"{option.name}{'.' + leaf if leaf else ''} {problem}")


def _wrong_references(option: Option, value: Any, where: str) -> Iterator[Finding]:
    for name, reference in option.references(value):
        if reference == VAULTED or is_template(reference):
            continue
        try:
            parse_reference(reference)
        except UsageError as error:
            yield Finding(where, f"{name} {error}")


def hidden_value(option: Option, value: Any, where: str) -> Finding | None:
    """Return the finding for a value that a run recorded without the credential in it; None for other values."""
    if HIDDEN not in str(value):
        return None
    return Finding(
        where,
        f"the recorded value of {option.name} is incomplete because it contained a credential; start a new run with "
        f"--replay and -s {option.name}=…, or keep the credential in a secret",
    )


def missing_value(option: Option, where: str) -> Finding:
    """Return the finding for a required setting without a value."""
    return Finding(where, f"{option.name} is required; set it in a preset or with -e {option.name}=…")


def wrong_together(
    project: Project, flow: FlowSpec, values: Mapping[str, Any], origins: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield the rules of *flow* that *values* violate in combination."""
    options = project.settings_of(flow.name)
    wrong = list(_wrong_experiments(options, values.get("matrix_experiments"), origins.get("matrix_experiments", "")))
    if wrong:
        # rules cannot be evaluated for values of a wrong type
        yield from wrong
        return
    shared = () if project.shared is None else project.shared.rules
    for rule, message in broken_rules((*flow.rules, *shared), options, values):
        places = dict.fromkeys(origins[name] for name in sorted(names_in_expression(rule.test)))
        yield Finding(", ".join(places), message)
    yield from _wrong_skips(options, values.get("matrix_skip_if"), origins.get("matrix_skip_if", ""))


def _wrong_experiments(options: tuple[Option, ...], experiments: Any, where: str) -> Iterator[Finding]:
    known = {option.name: option for option in options if option.dimension}
    for experiment in experiments if isinstance(experiments, list) else []:
        for key, value in experiment.items() if isinstance(experiment, dict) else ():
            name, _dot, leaf = str(key).partition(".")
            if name not in known:
                yield Finding(
                    where,
                    f"matrix_experiments sets {name}, which is not a dimension of the matrix"
                    f"{did_you_mean(name, known)}",
                )
            elif not leaf:
                for finding in wrong_value(known[name], value, where):
                    yield Finding(where, f"matrix_experiments: {finding.message}")


def _wrong_skips(options: tuple[Option, ...], expressions: Any, where: str) -> Iterator[Finding]:
    known = [option.name for option in options if option.dimension]
    for expression in expressions if isinstance(expressions, list) else []:
        try:
            unknown = sorted(names_in_expression(str(expression)).difference(known))
        except UsageError as error:
            yield Finding(where, f"matrix_skip_if: {error}")
            continue
        for name in unknown:
            yield Finding(
                where, f"matrix_skip_if reads {name}, which is not a dimension of the matrix{did_you_mean(name, known)}"
            )
