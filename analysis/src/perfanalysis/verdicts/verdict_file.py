"""verdict.json, what a CI job reads: `judge` and `regress` each write their part and leave the other's."""

from __future__ import annotations

from pathlib import Path

from perfanalysis.files.documents import Document, mapping, read_document, write_json

VERDICT_FILE = "verdict.json"
PARTS = ("thresholds", "regression")
GRAVITY = (5, 4, 6)
"""Exit codes from the gravest: bad data, a missed limit or a regression, too little to judge by."""


EMPTY: Document = {
    "schema": "psap.perf/verdict/1",
    "unjudged_allowed": False,
    "data_errors": [],
    "recordings": [],
}
"""What the file says of thresholds where none were judged."""


def write_verdict(path: Path, said: Document) -> Document:
    """Write what was found of a run, beside what the file says of the same run already; returns all of it."""
    document = _with_outcome({**EMPTY, **_earlier(path, said["run"]), **said})
    write_json(path, document)
    return document


def _earlier(path: Path, run: object) -> Document:
    """What the file says of the same run already; empty when it is missing, broken or of another run."""
    document, _findings = read_document(path, "verdict", path.name) if path.is_file() else (None, ())
    return document if document is not None and document.get("run") == run else {}


def _with_outcome(document: Document) -> Document:
    """The document with the exit code and the reason of its gravest part."""
    parts = [mapping(document.get(part)) for part in PARTS]
    found = [part for code in GRAVITY for part in parts if part.get("exit_code") == code]
    gravest = found[0] if found else {"exit_code": 0, "reason": None}
    reasons = "; ".join(str(part["reason"]) for part in found if part.get("reason"))
    return {**document, "exit_code": gravest["exit_code"], "reason": reasons or None}
