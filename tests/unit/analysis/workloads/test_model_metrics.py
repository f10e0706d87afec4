"""The metrics of a model server: what grew during a load, and the tokens by the server's own count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from perfanalysis.workloads.run_analysis import analyse_run

from tests.schemas import check

HITS = "vllm:prefix_cache_hits_total"
PREDICTED, PROMPT, BUSY = "llamacpp:tokens_predicted_total", "llamacpp:prompt_tokens_total", "llamacpp:requests"


def scrape(moment: str, pod: str, **values: float) -> dict[str, Any]:
    names = {"predicted": PREDICTED, "prompt": PROMPT, "busy": BUSY, "hits": HITS}
    samples = [
        {"metric": names[name], "labels": "", "counter": name != "busy", "value": value}
        for name, value in values.items()
    ]
    return {"moment": moment, "at": "2026-11-28T19:00:00.000Z", "pod": pod, "samples": samples}


def test_growth_counts_by_pod_and_restarts_at_zero(tmp_path: Path) -> None:
    document = {
        "schema": "psap.perf/model-metrics/1",
        "model": "random-26m",
        "facts": {"load": "2 users"},
        "lab": {"name": "default", "real": ["model server on a CPU"], "emulated": [], "simulated": []},
        "scrapes": [
            scrape("before", "a", predicted=100, prompt=7),
            scrape("before", "b", predicted=50),
            scrape("after", "a", predicted=130, prompt=7, busy=0, hits=12),
            # it restarted
            scrape("after", "b", predicted=20),
        ],
    }
    check(document)
    folder = tmp_path / "001__cell__0/003__llm_load_test__run/artifacts"
    folder.mkdir(parents=True)
    (folder / "model_metrics.json").write_text(json.dumps(document))
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    assert {value.name: value.number for value in analysis.kpis} == {
        "server_output_tokens": 50,
        "server_prompt_tokens": None,
        "server_cached_prompt_tokens": 12,
    }
    assert dict(analysis.facts) == {"model": "random-26m", "load": "2 users"}
    assert analysis.lab.real == ("model server on a CPU",)
    assert list(analysis.frames["model_metrics_gauges"]["metric"]) == [BUSY]
