"""What the controller observed of a boot that it started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_OURS, _THEIRS = "controller", "machine, on that of the controller"


def events(outside: Mapping[str, Any] | None, target_s: float | None) -> Iterator[dict[str, Any]]:
    """Return a row for each observed event, in seconds from the start of the machine; none if the controller did not
    start it.

    Args:
        target_s: When the target was reached, in seconds from the start of the machine's kernel.

    Raises:
        ValueError: The machine ran before.
    """
    if outside is None:
        return
    kernel_s, within_s = outside["kernel"] - outside["started"], outside["kernel_within_s"]
    if kernel_s < -within_s:
        raise ValueError("the machine's kernel started before the program did: the program did not boot it")
    for name in ("ping", "ssh"):
        if outside[name]:
            yield {"event": name, "clock": _OURS, **outside[name]}
    for name, at in (("kernel", 0.0), ("target", target_s)):
        if at is not None:
            yield {"event": name, "clock": _THEIRS, "after_s": kernel_s + at, "within_s": within_s}
