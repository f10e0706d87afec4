"""verdict.json, what a CI job reads: `judge` and `regress` each write their part and leave the other's."""

from __future__ import annotations

from pathlib import Path

from perfanalysis.files.documents import Document, mapping, read_document

PARTS = ("thresholds", "regression")
GRAVITY = (5, 4, 6)
"""Exit codes from the gravest: bad data, a missed limit or a regression, too little to judge by."""


def earlier_verdict(path: Path, run: object) -> Document:
    """What the file says of the same run already; empty when it is missing, broken or of another run."""
    document, _findings = read_document(path, "verdict", path.name) if path.is_file() else (None, ())
    return document if document is not None and document.get("run") == run else {}


def with_outcome(document: Document) -> Document:
    """The document with the exit code and the reason of its gravest part."""
    parts = [mapping(document.get(part)) for part in PARTS]
    found = [part for code in GRAVITY for part in parts if part.get("exit_code") == code]
    gravest = found[0] if found else {"exit_code": 0, "reason": None}
    reasons = "; ".join(str(part["reason"]) for part in found if part.get("reason"))
    return {**document, "exit_code": gravest["exit_code"], "reason": reasons or None}
