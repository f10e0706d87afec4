"""Changes that someone has looked at and accepted, until a date."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import listing, load_yaml, mapping
from perfanalysis.results.history.entries import Entry

KNOWN = frozenset(("kpi", "run", "keys", "expires", "reason"))


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """The change of *kpi* that began with *run* is accepted up to and with the day *expires* (None: without an end)."""

    kpi: str
    run: str
    keys: Mapping[str, Any]
    """Only of recordings with these keys; empty for all."""
    expires: datetime.date | None
    reason: str

    def covers(self, kpi: str, first: Entry) -> bool:
        """Whether it is about the change of *kpi* whose new level began with *first*."""
        same = all(first.value(name) == value for name, value in self.keys.items())
        return self.kpi == kpi and self.run == first.run and same

    @property
    def sentence(self) -> str:
        """`until 2027-01-31: audit log is on now`."""
        return f"{'without an end' if self.expires is None else f'until {self.expires}'}: {self.reason}"


@dataclass(frozen=True)
class Acknowledged:
    """Those of a file that hold today, and those that do not any more."""

    valid: tuple[Acknowledgement, ...] = ()
    expired: tuple[Acknowledgement, ...] = ()

    def __add__(self, other: Acknowledged) -> Acknowledged:
        """Those of two files."""
        return Acknowledged(self.valid + other.valid, self.expired + other.expired)

    def find(self, kpi: str, first: Entry) -> Acknowledgement | None:
        """The one that covers a change, or None."""
        return next((each for each in self.valid if each.covers(kpi, first)), None)


def read_acknowledged(path: Path, today: datetime.date) -> Acknowledged:
    """Read a YAML list of `{kpi, run, expires, reason}` and perhaps `keys`.

    Raises UsageError naming the entry and what is wrong with it.
    """
    try:
        loaded = load_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    if not isinstance(loaded, list):
        raise UsageError(f"{path} must be a list of entries with kpi, run, expires and reason")
    read = [_entry(entry, f"{path}: entry {number}") for number, entry in enumerate(listing(loaded), start=1)]
    over = [entry.expires is not None and entry.expires < today for entry in read]
    valid = tuple(entry for entry, past in zip(read, over, strict=True) if not past)
    return Acknowledged(valid, tuple(entry for entry, past in zip(read, over, strict=True) if past))


def _entry(entry: object, where: str) -> Acknowledgement:
    given = mapping(entry)
    unknown = ", ".join(sorted(map(str, given.keys() - KNOWN)))
    missing = ", ".join(sorted(KNOWN - {"keys"} - given.keys()))
    if unknown or missing:
        raise UsageError(f"{where}: {'unknown: ' + unknown if unknown else 'missing: ' + missing}")
    expires = given["expires"]
    if isinstance(expires, datetime.datetime):
        expires = expires.date()
    if not isinstance(expires, datetime.date):
        raise UsageError(f"{where}: expires must be a date such as 2027-01-31, not {expires!r}")
    return Acknowledgement(
        str(given["kpi"]), str(given["run"]), mapping(given.get("keys")), expires, str(given["reason"])
    )
