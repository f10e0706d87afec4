"""A verdict as JUnit XML: one suite a recording, one test case a threshold, and one for the data as a whole."""

from __future__ import annotations

from xml.etree import ElementTree

from perfanalysis.verdicts.thresholds.verdict import Judged, RecordingVerdict, Verdict


def junit_text(verdict: Verdict) -> str:
    """The document; the same verdict gives the same text."""
    root = ElementTree.Element("testsuites", {"name": str(verdict.run["run"])})
    for recording in verdict.recordings:
        root.append(_suite(recording, verdict))
    root.append(_data_suite(verdict))
    suites = list(root)
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(recording: RecordingVerdict, verdict: Verdict) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", {"name": recording.name})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in recording.labels.items():
        ElementTree.SubElement(properties, "property", {"name": printable(name), "value": printable(value)})
    for judged in recording.judged:
        suite.append(_case(judged, recording, verdict))
    return counted(suite)


def _case(judged: Judged, recording: RecordingVerdict, verdict: Verdict) -> ElementTree.Element:
    place = f"{verdict.run['flow'] or 'run'}.{recording.name.replace(' ', '_')}"
    case = ElementTree.Element("testcase", {"classname": place, "name": printable(judged.threshold.name)})
    if judged.outcome == "missed":
        _say(case, "failure", judged.sentence)
    elif judged.outcome == "not judged":
        _say(case, "skipped" if verdict.unjudged_allowed else "error", judged.sentence)
    return case


def _data_suite(verdict: Verdict) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", {"name": "data"})
    place = f"{verdict.run['flow'] or 'run'}.data"
    case = ElementTree.SubElement(suite, "testcase", {"classname": place, "name": "every workload is accounted for"})
    if verdict.data_errors:
        _say(case, "failure", "; ".join(verdict.data_errors))
    return counted(suite)


def _say(case: ElementTree.Element, kind: str, sentence: str) -> None:
    ElementTree.SubElement(case, kind, {"message": printable(sentence)})


def counted(suite: ElementTree.Element) -> ElementTree.Element:
    """The suite with the counts of its cases, as attributes."""
    suite.set("tests", str(len(suite.findall("testcase"))))
    for count, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(len(suite.findall(f"testcase/{kind}"))))
    return suite


def printable(text: str) -> str:
    """XML 1.0 knows no control characters, not even escaped."""
    return "".join(letter if letter >= " " else " " for letter in text)
