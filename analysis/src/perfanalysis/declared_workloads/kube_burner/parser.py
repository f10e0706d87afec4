"""Tables of kube-burner's documents; what they mean is in perfanalysis.foreign.kube_burner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfanalysis.foreign.kube_burner.figures import creation_rate, iteration_rate

if TYPE_CHECKING:
    from perfanalysis.source import Source

FUNCTIONS = (creation_rate, iteration_rate)


def parse(source: Source) -> dict[str, Any]:
    """Every table of the kind."""
    from perfanalysis.foreign.kube_burner.tables import tables_of

    return dict(tables_of(source))
