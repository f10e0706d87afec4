"""Dashboards of Grafana: a panel for each query, with Grafana's own variables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from perfdrv.cli import cli

PROJECT = Path(__file__).parents[3]


def test_each_query_file_becomes_a_dashboard(tmp_path: Path) -> None:
    ran = CliRunner().invoke(cli, ["--project", str(PROJECT), "dashboards", "-o", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    boards = {path.stem: json.loads(path.read_text()) for path in tmp_path.glob("*.json")}
    assert {"metrics", "model_server", "kueue"} <= set(boards)
    assert len({board["uid"] for board in boards.values()}) == len(boards)
    panels = {panel["title"]: panel for board in boards.values() for panel in board["panels"]}
    assert len(panels) == sum(len(board["panels"]) for board in boards.values())
    rate = panels["container_all_cpu_usage_cores"]
    assert "[$__rate_interval]" in rate["targets"][0]["expr"]
    assert 'namespace=~"$NAMESPACE"' in rate["targets"][0]["expr"]
    once = panels["server_window_ttft_p95_seconds"]
    assert (once["type"], once["targets"][0]["instant"]) == ("stat", True)
    assert "[$__range]" in once["targets"][0]["expr"]
    assert once["fieldConfig"]["defaults"]["unit"] == "s"
    places = [(one["gridPos"]["x"], one["gridPos"]["y"]) for one in boards["gpus"]["panels"]]
    assert places[:3] == [(0, 0), (12, 0), (0, 8)]


def test_grafanas_types_have_each_field_of_a_dashboard(tmp_path: Path) -> None:
    ran = CliRunner().invoke(cli, ["--project", str(PROJECT), "dashboards", "-o", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    register_default_plugins()
    boards = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
    for board in boards:
        assert list(_lost(board, _as_grafana_writes(board))) == []
    # a misplaced field is lost
    odd = boards[0] | {"refreshed": "30s"}
    odd["panels"][0]["fieldConfig"]["defaults"]["units"] = "s"
    assert list(_lost(odd, _as_grafana_writes(odd))) == [".panels[0].fieldConfig.defaults.units", ".refreshed"]


def _as_grafana_writes(board: dict[str, Any]) -> Any:
    """Return a dashboard that Grafana's types have read and written."""
    return json.loads(JSONEncoder().encode(Dashboard.from_json(board)))


def _lost(ours: Any, theirs: Any, place: str = "") -> Iterator[str]:
    """Yield the places whose values differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name, value in ours.items():
            yield from _lost(value, theirs.get(name, _lost), f"{place}.{name}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _lost(one, other, f"{place}[{number}]")
    elif ours != theirs:
        yield place


def test_own_file_and_unknown_layer(tmp_path: Path) -> None:
    own = tmp_path / "mine.txt"
    own.write_text("# up_ratio\navg(up)\n")
    words = ["--project", str(PROJECT), "dashboards", "-o", str(tmp_path / "out")]
    ran = CliRunner().invoke(cli, [*words, "-f", str(own)])
    assert ran.exit_code == 0, ran.output
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.json"]
    ran = CliRunner().invoke(cli, [*words, "kueu"])
    assert ran.exit_code == 2
    assert "unknown layer 'kueu'; did you mean kueue?" in ran.output
