"""What all filters share: their documentation checks the arguments, and what they refuse is told as a verb tells it."""

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
    """Fails the task with this sentence alone, and the error's exit code: an AnsibleActionFail adds to the result."""

    def __init__(self, error: PerfError) -> None:
        """Say what *error* says."""
        super().__init__(str(error), result={"exit_code": error.exit_code, "error_kind": type(error).__name__})


def documented(documentation: str, compute: Callable[[Mapping[str, Any]], Any]) -> Callable[..., Any]:
    """The filter that *documentation* describes.

    :param compute: gets the options by name, with ``_input``, in plain types, converted and with their defaults;
        raises a PerfError for what it refuses.
    """
    spec = argument_spec(documentation)
    names = str(yaml.safe_load(documentation).get("positional", "")).replace(",", " ").split()

    def evaluate(given: Any, *arguments: Any, **options: Any) -> Any:
        try:
            if len(arguments) > len(names):
                raise UsageError(f"there are {len(arguments)} arguments without a name, of at most {len(names)}")
            named = dict(zip(names, arguments, strict=False))
            checked = ArgumentSpecValidator(spec).validate(plain({INPUT: given, **named, **options}))
            if checked.error_messages:
                raise UsageError("; ".join(checked.error_messages))
            return plain(compute(checked.validated_parameters))
        except PerfError as error:
            raise RefusedError(error) from error

    return evaluate
