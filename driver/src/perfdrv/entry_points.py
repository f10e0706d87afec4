"""Objects that installed packages add to `perfdrv` by entry points."""

from __future__ import annotations

from typing import Any

from perfdrv.errors import DriverError


def load_entry_points(group: str, kind: Any) -> dict[str, Any]:
    """Return the objects that the entry points of a group name, by what identifies each in messages.

    psap-perf has an entry point in every group. A group without one means that psap-perf was installed before the group
    existed.

    Args:
        kind: The abstract base class of these objects, such as `Mapping`.

    Raises:
        DriverError: An entry point cannot be loaded or names another kind of object, or the group is empty.
    """
    # takes longer to import than the table of commands
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=group), key=lambda point: point.name)
    if not found:
        raise DriverError(f"no entry point in the group {group}: install psap-perf again")
    loaded = {}
    for point in found:
        shown = f"entry point {point.name} = {point.value} of {point.dist.name if point.dist else 'a package'}"
        remedy = "install that package again, or remove it"
        try:
            loaded[shown] = point.load()
        except Exception as error:
            # code of any package, so any error
            raise DriverError(f"cannot load the {shown}: {type(error).__name__}: {error}; {remedy}") from error
        if not isinstance(loaded[shown], kind):
            raise DriverError(f"cannot use the {shown}: it is not a {kind.__name__}; {remedy}")
    return loaded
