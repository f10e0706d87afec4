"""What the load generators of the flow kserve cannot do, before anything is deployed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import refuse_unsupported_arguments
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.table import generator_of

_OWN_COMMAND = "llm-load-test"
# arguments of serving_run_load that settings of the flow determine
_ARGUMENTS = {"duration": "kserve_duration", "requests": "kserve_requests", "streaming": "kserve_streaming"}


def refuse_kserve_loads(values: Mapping[str, Any]) -> None:
    """Refuse the loads of a cell that its generator cannot create.

    Args:
        values: The settings of the cell.

    Raises:
        UsageError: With the sentence of the generator.
    """
    name = values["kserve_load_generator"]
    if name == _OWN_COMMAND:
        return
    given = {"concurrency": 1, **{argument: values[setting] for argument, setting in _ARGUMENTS.items()}}
    try:
        refuse_unsupported_arguments(given, generator_of(name))
    except UsageError as error:
        raise UsageError(f"kserve_load_generator: {error}") from error
