"""The files of verdicts: verdict.json of a run, and JUnit's XML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from perfanalysis.files.documents import Document, mapping, read_document, write_json

Outcome = Literal["", "failure", "error", "skipped"]
COUNTS: Mapping[str, str] = {"failures": "failure", "errors": "error", "skipped": "skipped"}


@dataclass(frozen=True)
class Case:
    """A test case; one without an outcome passed."""

    name: str
    outcome: Outcome = ""
    message: str = ""


@dataclass(frozen=True)
class Suite:
    """Test cases of one recording; `place` is the class under which they are shown."""

    name: str
    place: str
    cases: tuple[Case, ...]
    properties: Mapping[str, str] = field(default_factory=dict)


def junit_text(name: str, suites: Iterable[Suite]) -> str:
    """Return the document; equal suites have equal texts."""
    root = ElementTree.Element("testsuites", {"name": _printable(name)})
    root.extend(map(_suite, suites))
    for count in ("tests", *COUNTS):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(suite: Suite) -> ElementTree.Element:
    element = ElementTree.Element("testsuite", {"name": _printable(suite.name)})
    if suite.properties:
        properties = ElementTree.SubElement(element, "properties")
        for name, value in suite.properties.items():
            ElementTree.SubElement(properties, "property", {"name": _printable(name), "value": _printable(value)})
    for case in suite.cases:
        attributes = {"classname": _printable(suite.place), "name": _printable(case.name)}
        shown = ElementTree.SubElement(element, "testcase", attributes)
        if case.outcome:
            ElementTree.SubElement(shown, case.outcome, {"message": _printable(case.message)})
    element.set("tests", str(len(suite.cases)))
    for count, outcome in COUNTS.items():
        element.set(count, str(sum(case.outcome == outcome for case in suite.cases)))
    return element


def _printable(text: str) -> str:
    """XML 1.0 has no control characters, not even escaped ones."""
    return "".join(letter if letter >= " " else " " for letter in text)


VERDICT_FILE = "verdict.json"
PARTS = ("thresholds", "regression")
GRAVITY = (5, 4, 6)
"""Exit codes from the most severe: bad data, a missed limit or a regression, too few values."""


EMPTY: Document = {
    "schema": "psap.perf/verdict/1",
    "unjudged_allowed": False,
    "data_errors": [],
    "recordings": [],
}
"""The fields about thresholds if none were judged."""


def write_verdict(path: Path, results: Document) -> Document:
    """Write the results of a judgement, merged with the file's results of the same run; return all of it."""
    document = _with_outcome({**EMPTY, **_earlier(path, results["run"]), **results})
    write_json(path, document)
    return document


def _earlier(path: Path, run: object) -> Document:
    """Return the file's results of the same run; empty if it is missing, damaged or of another run."""
    document, _findings = read_document(path, "verdict", path.name) if path.is_file() else (None, ())
    return document if document is not None and document.get("run") == run else {}


def _with_outcome(document: Document) -> Document:
    """Return the document with the exit code and the reason of its most severe part."""
    parts = [mapping(document.get(part)) for part in PARTS]
    found = [part for code in GRAVITY for part in parts if part.get("exit_code") == code]
    gravest = found[0] if found else {"exit_code": 0, "reason": None}
    reasons = "; ".join(str(part["reason"]) for part in found if part.get("reason"))
    return {**document, "exit_code": gravest["exit_code"], "reason": reasons or None}
