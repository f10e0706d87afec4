"""The secrets that a flow's settings declare, and their states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.secrets.formats import ANYTHING, malformed
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import KINDS, parse_reference
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option

OK, WRONG, NOT_GIVEN, UNKNOWN, WHERE_USED = "ok", "wrong", "not given", "in a vault", "wrong if it is used"


@dataclass(frozen=True, slots=True)
class SecretState:
    """The state of a secret.

    Attributes:
        name: The setting; with dots, a part of it.
        reference: Where the secret is stored; empty if none is set.
        status: One of the constants above.
        problem: The secret's problem; empty for none.
    """

    name: str
    description: str
    form: str
    reference: str
    status: str
    problem: str = ""


def secret_problem(option: Option, reference: str, value: Callable[[str], str]) -> str:
    """Return the problem of a setting's secret; empty if it is valid.

    Args:
        option: The setting.
        reference: Where the secret is stored.
        value: Returns the value of a reference.
    """
    try:
        wrong = malformed(value(reference), option.secret_format)
    except UsageError as error:
        return str(error)
    return f"the secret {reference} {wrong}" if wrong else ""


def states(
    options: tuple[Option, ...], values: Mapping[str, Any], value: Callable[[str], str]
) -> Iterator[SecretState]:
    """Yield all secrets of the settings *options*, and the secrets to which other settings refer."""
    for option in options:
        given = values.get(option.name)
        if option.secret:
            for name, reference in tuple(option.references(given)) or ((option.name, ""),):
                yield _state(name, option, str(reference), value)
        else:
            for leaf, reference in _references_in(given, option.name):
                yield _of_part(leaf, reference, option, value)


def _state(name: str, option: Option, reference: str, value: Callable[[str], str]) -> SecretState:
    if not reference:
        status, problem = (WRONG, "it is required") if option.required else (NOT_GIVEN, "")
    elif reference.startswith("vault:"):
        status, problem = UNKNOWN, ""
    else:
        problem = secret_problem(option, reference, value)
        status = WRONG if problem else OK
    shown = reference if not reference or _is_reference(reference) else "(in plain text)"
    return SecretState(name, option.help, option.secret_format, shown, status, problem)


def _is_reference(text: str) -> bool:
    try:
        parse_reference(text)
    except UsageError:
        return False
    return True


def _of_part(name: str, reference: str, option: Option, value: Callable[[str], str]) -> SecretState:
    if reference.startswith("vault:"):
        return SecretState(name, option.help, ANYTHING, reference, UNKNOWN)
    problem = secret_problem(option, reference, value)
    return SecretState(name, option.help, ANYTHING, reference, WHERE_USED if problem else OK, problem)


def _references_in(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield the references in a dictionary or a list, which are values of keys named ``secret``."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "secret" and isinstance(item, str) and item.partition(":")[0] in KINDS:
                yield f"{name}.{key}", str(parse_reference(item))
            else:
                yield from _references_in(item, f"{name}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _references_in(item, f"{name}.{index}")
