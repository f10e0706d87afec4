"""Times of Kubernetes objects."""

from __future__ import annotations

from perfanalysis.files.documents import parse_time


class Stamps:
    """Stamps as seconds since the epoch. Thousands of objects share a few, so each is read once.

    `unreadable` counts the different texts that are no time with a zone.
    """

    def __init__(self) -> None:
        self._known: dict[str, float | None] = {}

    def __call__(self, text: str | None) -> float | None:
        """Seconds since the epoch; None for no stamp, or one that cannot be read."""
        if text is None:
            return None
        if text not in self._known:
            self._known[text] = parse_time(text)
        return self._known[text]

    @property
    def unreadable(self) -> int:
        """How many texts are no times."""
        return sum(moment is None for moment in self._known.values())


def latest(moments: list[float | None]) -> float | None:
    """The last of them; None unless all are known, and there is one."""
    known = [moment for moment in moments if moment is not None]
    return max(known) if known and len(known) == len(moments) else None
