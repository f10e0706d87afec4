"""The time axes of a scale test's figures."""

from __future__ import annotations

from perfanalysis.drawing.charts import Axis

SINCE = Axis("time since the first submission", "s", low=0.0)
SUBMITTED = Axis("time of submission, since the first", "s", low=0.0)
EVICTED = Axis("time of the eviction, since the first submission", "s", low=0.0)
WHOLE = Axis("time since the first submission", "s")
"""Of what was seen before the first submission too."""
