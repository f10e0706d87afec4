"""The time of the cluster, from messages that the cluster sends to this machine."""

from __future__ import annotations

import math


class ClusterClock:
    """The cluster's clock: of the observed differences, the smallest contains the shortest delay of a message."""

    def __init__(self) -> None:
        self._offset_s = math.inf

    def observe(self, received_s: float, sent_s: float) -> None:
        """Record a message: when it was received by this clock, and sent by the cluster's."""
        self._offset_s = min(self._offset_s, received_s - sent_s)

    def cluster_time(self, own_s: float) -> float:
        """Return the cluster's time at *own_s* of this clock; the same time without observations."""
        return own_s if math.isinf(self._offset_s) else own_s - self._offset_s
