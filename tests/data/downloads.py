"""Recordings of the tests' own declared kind."""

from __future__ import annotations

import json
import random
from pathlib import Path

DOWNLOADS = Path(__file__).parent / "workloads" / "downloads"
START = 1_790_000_000.0


def write_downloads(directory: Path, seed: int, transfers: int = 40, clients: int = 3) -> Path:
    """Write a recording: downloads.json, and a file of transfers for each client. Return its directory."""
    chance = random.Random(seed)
    (directory / "clients").mkdir(parents=True)
    (directory / "downloads.json").write_text(json.dumps({"servers": [{"server": f"server-{seed}", "version": "1.2"}]}))
    for client in range(clients):
        rows, at = [], START
        for _ in range(transfers):
            at += chance.expovariate(2.0)
            status = "ok" if chance.random() < 0.95 else "torn"
            end = at + chance.lognormvariate(0.0, 0.5)
            size = chance.randrange(10**6, 10**7)
            rows.append({"client": f"c{client}", "start": at, "end": end, "size_bytes": size, "status": status})
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (directory / "clients" / f"c{client}.jsonl").write_text(text)
    return directory
