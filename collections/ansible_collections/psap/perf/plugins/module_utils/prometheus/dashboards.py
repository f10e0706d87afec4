"""Dashboards of Grafana from query files: a panel for each query, in the JSON model that Grafana imports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import NamedQuery

# of Grafana 11; later versions migrate it when they import it
SCHEMA_VERSION = 39
_COLUMNS, _HEIGHT, _WIDTH = 24, 8, 12
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_UNITS = {
    "_bytes_per_second": "Bps",
    "_per_second": "cps",
    "_mebibytes": "mbytes",
    "_bytes": "bytes",
    "_percent": "percent",
    "_ratio": "percentunit",
    "_seconds": "s",
    "_watts": "watt",
    "_celsius": "celsius",
    "_joules": "joule",
    "_hertz": "hertz",
}
# Grafana's own variables for the range of a rate and for the shown time
_RANGES = {"$RANGE": "$__rate_interval", "$WINDOW": "$__range"}


def dashboard(name: str, queries: Sequence[NamedQuery]) -> dict[str, Any]:
    """Return the dashboard *name* of *queries*, whose ``$NAMESPACE`` and ``$MODEL`` are variables of the dashboard."""
    return {
        "uid": f"psap-perf-{name.replace('_', '-')}"[:40],
        "title": f"psap.perf: {name.replace('_', ' ')}",
        "tags": ["psap.perf"],
        "timezone": "utc",
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "refresh": "",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [_source_variable(), _text_variable("NAMESPACE"), _text_variable("MODEL")]},
        "annotations": {"list": []},
        "panels": [_panel(place, query) for place, query in enumerate(queries)],
    }


def _panel(place: int, query: NamedQuery) -> dict[str, Any]:
    at = place * _WIDTH
    position = {"h": _HEIGHT, "w": _WIDTH, "x": at % _COLUMNS, "y": at // _COLUMNS * _HEIGHT}
    once = query.of_whole_window
    expression = query.expression
    for variable, own in _RANGES.items():
        expression = expression.replace(variable, own)
    return {
        "id": place + 1,
        "type": "stat" if once else "timeseries",
        "title": query.name,
        "datasource": _SOURCE,
        "gridPos": position,
        "fieldConfig": {"defaults": {"unit": _unit(query.name), "min": 0}, "overrides": []},
        "options": {},
        "targets": [{"refId": "A", "datasource": _SOURCE, "expr": expression, "instant": once, "range": not once}],
    }


def _unit(name: str) -> str:
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "short")


def _source_variable() -> dict[str, Any]:
    return {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}


def _text_variable(name: str) -> dict[str, Any]:
    value = {"text": ".*", "value": ".*"}
    return {"name": name, "label": name.lower(), "type": "textbox", "query": ".*", "current": value, "options": []}
