"""A run as a history keeps it: psap.perf/history/1, of its run.json, its settings and its KPIs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from perfanalysis.comparing.pairs import key_settings, settings_of
from perfanalysis.discover import marked
from perfanalysis.documents import Document, listing, mapping, text_or_none
from perfanalysis.kpis import declared, measured
from perfanalysis.pipeline import RunAnalysis, labels_of

SCHEMA = "psap.perf/history/1"


def history_document(result: RunAnalysis) -> Document:
    """The document; the same run analysed by the same version gives the same one."""
    run = result.run.document or {}
    return {
        "schema": SCHEMA,
        "run": result.run.id,
        "flow": text_or_none(run.get("flow")),
        "status": result.run.status,
        "started": text_or_none(run.get("started")),
        "simulated": list(marked(result.marks, "simulated")),
        "emulated": list(marked(result.marks, "emulated")),
        "analysis": version("psap-perf"),
        "facts": _facts(result),
        "recordings": [
            {
                "kind": analysis.place.marker,
                "recording": analysis.place.name,
                "labels": labels_of(analysis),
                "keys": settings_of(analysis, result.run),
                "kpis": [{**declared(value), **measured(value)} for value in analysis.kpis if value.number is not None],
            }
            for analysis in result.analyses
        ],
    }


def _facts(result: RunAnalysis) -> dict[str, Any]:
    """What is known of the whole run and decides nothing by itself, by dotted names."""
    run = result.run.document or {}
    keys = key_settings(result.run)
    settings = {
        f"setting.{name}": mapping(entry).get("value")
        for name, entry in mapping(result.run.settings.get("all")).items()
        if name not in keys
    }
    facts = {
        "presets": listing(run.get("presets")),
        "site": run.get("site"),
        "lab": run.get("lab"),
        **_dotted("cluster", run.get("cluster")),
        **_dotted("version", run.get("versions")),
        **_dotted("git", run.get("git")),
        **settings,
    }
    return {name: value for name, value in sorted(facts.items()) if value is not None}


def _dotted(name: str, value: object) -> Mapping[str, Any]:
    return {f"{name}.{key}": part for key, part in mapping(value).items()}
