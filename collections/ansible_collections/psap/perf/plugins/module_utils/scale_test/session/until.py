"""The condition that ends a recording: a word or a JMESPath expression over the progress."""

from __future__ import annotations

from collections.abc import Callable

import jmespath
import jmespath.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.progress import Progress

ALL_COMPLETED = "all_completed"

Condition = Callable[[Progress], bool]


def condition(until: str) -> Condition:
    """Return the condition that *until* names.

    ``all_completed``: the wanted number of workloads (at least one) was seen and none is running any more.
    Anything else is JMESPath over the fields of the progress, for example ``completed >= `200```.

    Raises:
        UsageError: If it is neither.
    """
    if until == ALL_COMPLETED:
        return _all_completed
    try:
        expression = jmespath.compile(until)
    except jmespath.exceptions.JMESPathError as error:
        raise UsageError(f"until is neither {ALL_COMPLETED} nor JMESPath: {error}") from error

    def holds(progress: Progress) -> bool:
        try:
            return bool(expression.search(progress.fields()))
        except jmespath.exceptions.JMESPathError as error:
            raise UsageError(f"until cannot be evaluated: {error}") from error

    return holds


def _all_completed(progress: Progress) -> bool:
    return progress.running == 0 and progress.submitted >= max(progress.planned, 1)
