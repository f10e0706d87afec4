"""Print the fault table of docs/quads.md: a booking of two hosts and its release, with one fault at one call."""

from __future__ import annotations

import tempfile
from pathlib import Path

from perfdrv.collection import activate

activate(Path(__file__).resolve().parents[2])

from tests.standins.quads.faults import FAULTS, Killed  # noqa: E402 - importable since activate()
from tests.unit.quads.sessions import Session  # noqa: E402

CALLS = (
    "POST /login/",
    "POST /assignments/self/",
    "POST /schedules/",
    "GET /schedules?assignment_id=1",
    "POST /assignments/terminate/1/",
)


def run_with(faults: dict[int, str]) -> Session:
    """Book and release, repeating a step that was killed."""
    session = Session(Path(tempfile.mkdtemp(prefix="quads-")))
    session.wire.faults = faults
    for step in (lambda: session.book(2), session.release):
        try:
            step()
        except Killed:
            step()
    return session


def cell_text(session: Session, calls: int) -> str:
    """Return one cell of the table."""
    made, rows, left = len(session.lab.assignments), len(session.lab.rows), len(session.own)
    return f"{made} made with {rows} hosts, {left} left; {len(session.wire.calls) - calls:+d} calls"


def main() -> None:
    """Print the table."""
    clean = run_with({})
    print("| call | " + " | ".join(FAULTS) + " |\n" + "| --- " * (len(FAULTS) + 1) + "|")
    for call in CALLS:
        number = clean.wire.calls.index(call)
        cells = [cell_text(run_with({number: fault}), len(clean.wire.calls)) for fault in FAULTS]
        print(f"| `{call}` | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
