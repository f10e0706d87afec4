"""Objects that installed packages add to `perfdrv` by entry points."""

from __future__ import annotations

from typing import Any

from perfanalysis import extensions
from perfanalysis.errors import AnalysisError

from perfdrv.errors import DriverError


def load_entry_points(group: str, kind: Any) -> dict[str, Any]:
    """Return the objects of a group in which psap-perf has an entry point, as `perfanalysis.extensions` does.

    A group without one means that psap-perf was installed before the group existed.

    Raises:
        DriverError: An entry point cannot be loaded or names another kind of object, or the group is empty.
    """
    try:
        loaded = extensions.load_entry_points(group, kind)
    except AnalysisError as error:
        raise DriverError(str(error)) from error
    if not loaded:
        raise DriverError(f"no entry point in the group {group}: install psap-perf again")
    return loaded
