"""Why a difference of two stamps of the server is negative: of runs that no watch has seen, imported ones.

The plotter of old directories and the report of the same directory's run tell it by this rule alone.
"""

from __future__ import annotations

from typing import Literal

Start = Literal["client", "pod", "object"]
STAMPED_CAUSES: dict[Start, str] = {
    "client": "clocks of client and server differ, or another workload had the name before",
    "pod": "the pod was replaced by a later one",
    "object": "stamps of the server out of order",
}
"""By what the difference begins with: the client's clock, a stamp of a pod, or one of another object."""
