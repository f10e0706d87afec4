"""Objects that installed packages add by entry points, such as kinds of workloads and importers."""

from __future__ import annotations

from typing import Any

from perfanalysis.errors import AnalysisError


def load_entry_points(group: str, kind: Any) -> dict[str, Any]:
    """Return the objects that the entry points of a group name, by what identifies each in messages.

    Args:
        kind: The abstract base class of these objects, such as `Mapping`.

    Raises:
        AnalysisError: An entry point cannot be loaded, or names another kind of object.
    """
    # takes longer to import than a table of commands
    from importlib.metadata import entry_points

    loaded = {}
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        shown = f"entry point {point.name} = {point.value} of {point.dist.name if point.dist else 'a package'}"
        remedy = "install that package again, or remove it"
        try:
            loaded[shown] = point.load()
        except Exception as error:
            # code of any package, so any error
            raise AnalysisError(f"cannot load the {shown}: {type(error).__name__}: {error}; {remedy}") from error
        if not isinstance(loaded[shown], kind):
            raise AnalysisError(f"cannot use the {shown}: it is not a {kind.__name__}; {remedy}")
    return loaded
