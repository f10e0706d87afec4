"""The ways to judge a run by those before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Method = Literal["change-point", "z-score", "percentile"]

FEWEST: Mapping[Method, int] = {"change-point": 4, "z-score": 5, "percentile": 39}
"""Earlier values that each needs: a level before a change, a deviation, a rank whose p-value can be 0.05."""
