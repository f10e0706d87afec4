"""Real servers behind the real endpoint picker: two of llama.cpp on the real node, and the hits of their caches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Lab as RunLab

from .labs import Labs

pytestmark = pytest.mark.deep
NAME = "realpicker"


@pytest.fixture(scope="module", name="lab")
def _lab(labs: Labs) -> Iterator[RunLab]:
    lab = labs.up(NAME, "--nodes", "2", "--with", "endpoint-picker", "--with", "worker")
    loaded = labs.run("image", "load", "--name", NAME, "llama-cpp", "random-26m")
    assert loaded.returncode == 0, loaded.stderr
    yield RunLab(NAME, lab.kubeconfig)
    labs.run("down", "--name", NAME)


def values(run: Path) -> dict[str, Any]:
    """Return the KPIs of the only load by their names."""
    return {one["name"]: one["value"] for one in json.loads((run / "report/kpis.json").read_text())["kpis"]}


def test_requests_with_a_prefix_hit_the_caches_of_real_servers(lab: RunLab, tmp_path: Path) -> None:
    """`perfdrv generators install aiperf` first."""
    settings = json.dumps({"perf_kubeconfig": str(lab.kubeconfig)})
    ran = lab.run(tmp_path, "perfdrv", "run", "llm_d", "-p", "llm_d_real", "-e", settings)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = (path for path in tmp_path.iterdir() if path.is_dir() and not path.is_symlink())
    kpis = values(run)
    assert kpis["requests_failed"] == 0
    # as the servers' answers state it, and as they count the tokens that they compute
    assert kpis["cached_tokens_ratio"] > 0.5
    (records,) = run.rglob("profile_export.jsonl")
    sent = sum(
        json.loads(line)["metrics"]["input_sequence_length"]["value"] for line in records.read_text().splitlines()
    )
    assert kpis["server_prompt_tokens"] < sent / 2
    # the picker's own metrics: its index of prefixes, and both servers
    assert kpis["picker_prompt_hits_mean"] > 0.3
    (document,) = (json.loads(path.read_text()) for path in run.rglob("model_metrics.json"))
    assert len({scrape["pod"] for scrape in document["scrapes"]}) == 2
    assert "model server on a CPU" in document["lab"]["real"]
