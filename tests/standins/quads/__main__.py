"""Serve the stand-in on this machine, as a process: ``python -m tests.standins.quads --address-file FILE``."""

from __future__ import annotations

import argparse
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

from perfdrv.collection import activate


def main() -> None:
    """Serve until killed, or until the seconds are over."""
    parser = argparse.ArgumentParser(description="A stand-in for a QUADS server: it books nothing.")
    parser.add_argument("--address-file", type=Path, required=True, help="file for the address and the process ID")
    parser.add_argument("--mode", default="later", help="version: 2.1.0, 2.1.5, 2.1.6, 2.2.6 or later")
    parser.add_argument("--tickets", action="store_true", help="open tickets automatically")
    parser.add_argument("--ticket-time", type=float, default=0.0, help="seconds that opening a ticket takes")
    parser.add_argument("--move", type=float, default=1.0, help="seconds after which a host is moved")
    parser.add_argument("--validation", type=float, default=2.0, help="seconds after which a cloud is validated")
    parser.add_argument("--stuck", action="append", default=[], help="host that is never moved")
    parser.add_argument("--lease", type=float, default=5 * 86400.0, help="length of a lease in seconds")
    parser.add_argument("--seconds", type=float, default=900.0, help="seconds to serve")
    given = parser.parse_args()
    activate(Path(__file__).resolve().parents[3])
    # importable because activate() has added the collection
    from tests.standins.quads.faults import over_http
    from tests.standins.quads.lab import Settings, example
    from tests.standins.quads.server import StandIn

    # a deadline on Monday at midnight has always passed: leases are not cut
    settings = Settings(mode=given.mode, move_s=given.move, validation_s=given.validation, deadline=(0, 0))
    settings.tickets, settings.ticket_s = given.tickets, given.ticket_time
    settings.stuck = set(given.stuck)
    settings.lifetime_days = given.lease / 86400
    with over_http(StandIn(example(lambda: datetime.now(UTC), settings))) as address:
        partial = given.address_file.with_suffix(".partial")
        partial.write_text(f"{address} {os.getpid()}\n", encoding="utf-8")
        partial.replace(given.address_file)
        threading.Event().wait(given.seconds)


if __name__ == "__main__":
    main()
