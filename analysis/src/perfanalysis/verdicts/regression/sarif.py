"""The changes of a run as SARIF 2.1.0, which code hosts and editors show as findings.

OASIS Standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", 2020. A rule is a KPI, a result a
change: worse is an error, an acknowledged one is a suppressed error, different is a warning, better a note.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version

from perfanalysis.files.documents import Document
from perfanalysis.verdicts.regression.verdict import KpiVerdict, RecordingVerdict, Regression, Word

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: dict[Word, str] = {"worse": "error", "acknowledged": "error", "different": "warning", "better": "note"}


def sarif_document(regression: Regression, sentences: dict[int, str]) -> Document:
    """The log; *sentences* says what each KPI's change is, by the identity of its verdict."""
    found = [(each, kpi) for each in regression.recordings for kpi in each.kpis if kpi.word in LEVELS]
    rules = {kpi.kpi.name: kpi for _, kpi in found}
    places = {name: place for place, name in enumerate(rules)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "perfanalysis regress",
                        "version": version("psap-perf"),
                        "rules": [_rule(kpi) for kpi in rules.values()],
                    }
                },
                "automationDetails": {"id": f"psap.perf/{regression.run}"},
                "columnKind": "utf16CodeUnits",
                "results": [_result(each, kpi, places[kpi.kpi.name], sentences[id(kpi)]) for each, kpi in found],
            }
        ],
    }


def _rule(kpi: KpiVerdict) -> Document:
    return {
        "id": kpi.kpi.name,
        "shortDescription": {"text": kpi.kpi.help or kpi.kpi.name},
        "properties": {"unit": kpi.kpi.unit, "direction": kpi.direction},
    }


def _result(recording: RecordingVerdict, kpi: KpiVerdict, rule: int, sentence: str) -> Document:
    entry, change = recording.entry, kpi.change
    since = entry.run if change is None else change.first.run
    result: Document = {
        "ruleId": kpi.kpi.name,
        "ruleIndex": rule,
        "kind": "fail" if LEVELS[kpi.word] != "note" else "informational",
        "level": LEVELS[kpi.word] if LEVELS[kpi.word] != "note" else "none",
        "message": {"text": f"{kpi.kpi.name} is {kpi.word}: {sentence}"},
        "locations": [
            {"logicalLocations": [{"name": entry.recording, "fullyQualifiedName": f"{entry.run}/{entry.recording}"}]}
        ],
        # the same change has the same fingerprint in every later run: it is one finding, not a new one each night
        "partialFingerprints": {"change/v1": _fingerprint(entry.flow, entry.recording, kpi.kpi.name, since)},
        "properties": {
            "verdict": kpi.word,
            "since": since,
            "q": None if change is None else change.q,
            "change": None if change is None else change.effect.change,
        },
    }
    if kpi.word == "acknowledged":
        result["suppressions"] = [{"kind": "external", "justification": kpi.reason}]
    return result


def _fingerprint(*parts: str | None) -> str:
    return hashlib.sha256("\n".join(part or "" for part in parts).encode()).hexdigest()[:32]
