"""Verdicts as JUnit XML, which CI systems show: suites of test cases, whoever judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree

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
    """Test cases of one recording; `place` is the class that they are shown below."""

    name: str
    place: str
    cases: tuple[Case, ...]
    properties: Mapping[str, str] = field(default_factory=dict)


def junit_text(name: str, suites: Iterable[Suite]) -> str:
    """The document; the same suites give the same text."""
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
    """XML 1.0 knows no control characters, not even escaped."""
    return "".join(letter if letter >= " " else " " for letter in text)
