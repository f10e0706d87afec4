"""The rate of submission that was asked for, as far as the recorder's document says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perfanalysis.files.documents import Document, listing, mapping, number_or

if TYPE_CHECKING:
    from numpy.typing import NDArray


def asked_rate(recording: Document, end: float) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Corners of the line of the rate (seconds since the first submission, workloads a second) up to an end.

    None where no rate was asked for: as fast as possible, in batches, or by a trace.
    """
    client = mapping(recording.get("client"))
    phases = [phase for phase in listing(client.get("phases")) if _is_phase(phase)]
    rate = number_or(client.get("rate"), 0.0)
    if end <= 0 or not (phases or rate > 0):
        return None
    if not phases:
        return np.array([0.0, end]), np.array([rate, rate])
    times, rates, began = [], [], 0.0
    for length, first, last in phases:
        times += [began, began + length]
        rates += [first, last]
        began += length
    # the last phase's last rate lasts on
    corners = np.array([*times, max(end, began)]), np.array([*rates, rates[-1]], dtype=float)
    return _up_to(end, *corners)


def _is_phase(phase: object) -> bool:
    numbers = listing(phase)
    return len(numbers) == 3 and all(isinstance(number, int | float) for number in numbers) and numbers[0] > 0


def _up_to(
    end: float, times: NDArray[np.float64], rates: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    kept = times < end
    at_end = float(np.interp(end, times, rates))
    return np.append(times[kept], end), np.append(rates[kept], at_end)
