"""What the controller saw of a boot that it started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_OURS, _THEIRS = "controller", "machine, on that of the controller"


def events(outside: Mapping[str, Any] | None, target_s: float | None) -> Iterator[dict[str, Any]]:
    """A row for each event that was seen, in seconds from the start of the machine; none if nobody started it.

    :param target_s: when the target was reached, in seconds from the start of the machine's kernel.
    :raises ValueError: when the machine ran before.
    """
    if outside is None:
        return
    kernel_s, within_s = outside["kernel"] - outside["started"], outside["kernel_within_s"]
    if kernel_s < -within_s:
        raise ValueError("the machine's kernel ran before the machine was started: the program did not boot it")
    for name in ("ping", "ssh"):
        if outside[name]:
            yield {"event": name, "clock": _OURS, **outside[name]}
    for name, at in (("kernel", 0.0), ("target", target_s)):
        if at is not None:
            yield {"event": name, "clock": _THEIRS, "after_s": kernel_s + at, "within_s": within_s}
