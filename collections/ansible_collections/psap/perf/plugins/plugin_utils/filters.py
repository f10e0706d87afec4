"""The base of all filters: their documentation validates the arguments, and their errors are like those of verbs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import yaml
from ansible.errors import AnsibleActionFail, AnsibleFilterError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec

INPUT = "_input"


class RefusedError(AnsibleFilterError, AnsibleActionFail):  # type: ignore[misc]  # ansible-core has no types
    """Fails the task with only the error's message and exit code, which an AnsibleActionFail adds to the result."""

    def __init__(self, error: PerfError) -> None:
        """Use the message and exit code of *error*."""
        super().__init__(str(error), result={"exit_code": error.exit_code, "error_kind": type(error).__name__})


def documented(documentation: str, compute: Callable[[Mapping[str, Any]], Any]) -> Callable[..., Any]:
    """Return the filter of *documentation*.

    Args:
        compute: Receives the options by name, with ``_input``, in plain types, converted and with their defaults;
            raises a PerfError for invalid ones.
    """
    spec = argument_spec(documentation)
    names = str(yaml.safe_load(documentation).get("positional", "")).replace(",", " ").split()

    def evaluate(given: Any, *arguments: Any, **options: Any) -> Any:
        try:
            if len(arguments) > len(names):
                raise UsageError(f"{len(arguments)} arguments without a name, but at most {len(names)} are allowed")
            named = dict(zip(names, arguments, strict=False))
            checked = ArgumentSpecValidator(spec).validate(plain({INPUT: given, **named, **options}))
            if checked.error_messages:
                raise UsageError("; ".join(checked.error_messages))
            return plain(compute(checked.validated_parameters))
        except PerfError as error:
            raise RefusedError(error) from error

    return evaluate
