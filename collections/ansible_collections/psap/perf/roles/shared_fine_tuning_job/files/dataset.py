"""The data set that a training gets: converted, multiplied, and kept in the volume for the next one.

It runs in the trainer's image: Python 3.9 and no packages.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from pathlib import Path


def prepare(source: Path, cache: Path, local: Path, wanted: dict) -> Path:
    """The file to train with: *source* itself when nothing is to be done, else one in *cache* or below *local*.

    :param wanted: ``replication``, ``transform`` (a module with ``convert``, or empty) and ``prefer_cache``.
    """
    if wanted["replication"] == 1 and not wanted["transform"]:
        return source
    name = prepared_name(source, wanted)
    if not wanted["prefer_cache"]:
        return _write(local / name, converted(source, wanted))
    kept = cache / name
    if kept.exists():
        print(f"data set: {kept} was prepared before")
        return kept
    return _write(kept, converted(source, wanted))


def prepared_name(source: Path, wanted: dict) -> str:
    """Return a name that changes with the source and with each option of the preparation."""
    state = source.stat()
    origin = f"{source.name} {state.st_size} {state.st_mtime_ns}"
    digest = hashlib.sha256(origin.encode()).hexdigest()[:8]
    words = [source.stem, f"x{wanted['replication']:g}", wanted["transform"] or "as-is", digest]
    return "-".join(words) + source.suffix


def converted(source: Path, wanted: dict) -> list:
    """The records of *source*, each converted, as many times over as wanted: 2.5 is all of them twice, then half."""
    records = read_records(source)
    if wanted["transform"]:
        convert = importlib.import_module(wanted["transform"]).convert
        records = [convert(record) for record in records]
    whole = int(wanted["replication"])
    rest = round(len(records) * (wanted["replication"] - whole))
    return records * whole + records[:rest]


def read_records(path: Path) -> list:
    """A JSON list, or one JSON object a line when the name ends in ``.jsonl``."""
    with path.open(encoding="utf-8") as stream:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in stream if line.strip()]
        return json.load(stream)


def _write(path: Path, records: list) -> Path:
    """Write whole and rename: pods that prepare the same file at one time do not see each other's halves."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}")
    with unfinished.open("w", encoding="utf-8") as stream:
        if path.suffix == ".jsonl":
            stream.writelines(json.dumps(record) + "\n" for record in records)
        else:
            json.dump(records, stream)
    unfinished.rename(path)
    print(f"data set: {len(records)} records in {path}")
    return path
