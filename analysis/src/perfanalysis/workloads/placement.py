"""The fewest domains of a topology that could have held each gang, given the capacity that was free at its admission.

One sweep goes over the begins and ends of holdings in the order of time, after a sort in O(n log n). A gang costs
O(nodes) at each level: to sum the pods that fit into each domain, and to count domains by that number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-9
# ends come before begins at the same time
_END, _BEGIN = 0, 1


@dataclass(frozen=True)
class Holdings:
    """Capacity that pods hold: arrays with an entry for each pod on a known node.

    `workload` and `node` are indices; a pod holds `amount` of its node from `start` to `end`, infinite while it runs.
    """

    workload: NDArray[np.int64]
    node: NDArray[np.int64]
    amount: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]


@dataclass(frozen=True)
class Gangs:
    """Workloads of several pods: arrays with an entry for each.

    `at` is the time of admission; each of the `pods` pods needs `amount` of one node, which must be above 0.
    """

    workload: NDArray[np.int64]
    at: NDArray[np.float64]
    pods: NDArray[np.int64]
    amount: NDArray[np.float64]


def fewest_domains(fitting: NDArray[np.int64], pods: int) -> int | None:
    """Return the smallest number of domains that hold *pods* pods, given how many pods fit into each; None if too few.

    It is exact: no other choice of as many domains holds more than the largest ones.
    """
    domains = np.bincount(fitting, minlength=1)[::-1]
    sizes = np.arange(len(domains) - 1, -1, -1)
    held = np.cumsum(domains * sizes)
    if held[-1] < pods:
        return None
    # the largest sizes whose domains are all needed, and the rest in domains of the next size
    place = int(np.searchsorted(held, pods))
    before = int(held[place] - domains[place] * sizes[place])
    return int(domains[:place].sum()) - (before - pods) // int(sizes[place])


def fewest_at_admission(
    holdings: Holdings, gangs: Gangs, capacity: NDArray[np.float64], levels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the fewest domains for each gang (rows) at each level (columns); NaN if the gang did not fit.

    Args:
        holdings: The pods of all workloads. Those of the gang itself do not count, as they begin after its admission.
        capacity: The amount of each node.
        levels: The domain of each node (columns) at each level (rows), as an index; -1 for a node in no domain.
    """
    free = capacity.copy()
    steps, nodes, amounts = _steps(holdings, gangs)
    found = np.full((len(gangs.workload), len(levels)), np.nan)
    done = 0
    for place in np.flatnonzero(steps < len(gangs.workload)).tolist():
        np.add.at(free, nodes[done:place], amounts[done:place])
        done = place
        gang = int(steps[place])
        fitting = np.maximum((free + _ROUNDING) // gangs.amount[gang], 0).astype(np.int64)
        for column, domains in enumerate(levels):
            known = domains >= 0
            sums = np.bincount(domains[known], weights=fitting[known]).astype(np.int64)
            fewest = fewest_domains(sums, int(gangs.pods[gang]))
            found[gang, column] = np.nan if fewest is None else fewest
    return found


def _steps(holdings: Holdings, gangs: Gangs) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return all steps in order: the gang that is admitted (or a larger number), and the change of a node's amount.

    Of several workloads at one time, the one with the lower index comes first.
    """
    ended = np.isfinite(holdings.end)
    admitted, pods, ends = len(gangs.workload), len(holdings.workload), int(ended.sum())
    time = np.concatenate((gangs.at, holdings.start, holdings.end[ended]))
    phase = np.repeat([_BEGIN, _BEGIN, _END], [admitted, pods, ends])
    workload = np.concatenate((gangs.workload, holdings.workload, holdings.workload[ended]))
    order = np.lexsort((np.repeat([0, 1, 1], [admitted, pods, ends]), workload, phase, time))
    steps = np.concatenate((np.arange(admitted), np.full(pods + ends, admitted)))
    nodes = np.concatenate((np.zeros(admitted, dtype=np.int64), holdings.node, holdings.node[ended]))
    amounts = np.concatenate((np.zeros(admitted), -holdings.amount, holdings.amount[ended]))
    return steps[order], nodes[order], amounts[order]
