"""Queries that are computed from scraped pages, with expected values computed by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.prometheus.evaluating import Labels, Page, Scrapes
from ansible_collections.psap.perf.plugins.module_utils.prometheus.promql import (
    Selector,
    UnsupportedError,
    parse,
    selectors,
)
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import NamedQuery, read_queries
from ansible_collections.psap.perf.plugins.module_utils.prometheus.scraped import Sampling, answer_queries, sample

from tests.schemas import check_file

from .test_query_file import ROLE

PAGE = """\
# TYPE waiting gauge
waiting{{model="a",text="x }} \\"y\\""}} {waiting}
tokens_total{{model="a"}} {tokens} 1790000000000
ttft_bucket{{le="0.1"}} {fast}
ttft_bucket{{le="0.5"}} {slow}
ttft_bucket{{le="+Inf"}} {slow}
other 7
not a line
"""


def _page(at_s: float, pod: str, waiting: float, tokens: float, fast: float = 0, slow: float = 0) -> Page:
    return Page(at_s, {"pod": pod}, PAGE.format(waiting=waiting, tokens=tokens, fast=fast, slow=slow))


def _scrapes() -> Scrapes:
    scrapes = Scrapes((Selector(()),))
    scrapes.add([_page(10, "p", 1, 100), _page(10, "q", 3, 50)])
    scrapes.add([_page(12, "p", 2, 140, 4, 8), _page(12, "q", 0, 60)])
    # q restarted
    scrapes.add([_page(14, "p", 0, 200, 4, 10), _page(14, "q", 5, 20)])
    return scrapes


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sum(waiting)", {(): [4, 2, 5]}),
        ('avg by (pod) (waiting{pod=~"p|r", model!=""})', {(("pod", "p"),): [1, 2, 0]}),
        ("sum(rate(tokens_total[4s])) # per second", {(): [25, 40]}),
        ("sum by (pod) (increase(tokens_total[4s]))", {(("pod", "p"),): [40, 60], (("pod", "q"),): [10, 20]}),
        ('1 - max(waiting{text="x } \\"y\\""}) / 10', {(): [0.7, 0.8, 0.5]}),
        ("sum(nothing) or count(other)", {(): [2, 2, 2]}),
        # 4 of 8 observations are at most 0.1; the 6th of 8 is in the middle of the second bucket
        ("histogram_quantile(0.75, sum by (le) (increase(ttft_bucket[10s])))", {(): [0.3, 7 / 30 + 0.1]}),
        ("sum(nothing) / sum(waiting)", {}),
    ],
)
def test_values_are_those_computed_by_hand(query: str, expected: dict[Labels, list[float]]) -> None:
    answer = _scrapes().answer(parse(query), [10, 12, 14])
    found = {tuple(sorted(one.labels.items())): list(one.numbers) for one in answer.series}
    assert found == {labels: pytest.approx(values) for labels, values in expected.items()}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("topk(3, x)", "the function topk is not supported"),
        ("x > bool 3", "'> bool 3' is not supported"),
        ("rate(x)", "a rate needs a range"),
        ("sum(x", "the end"),
        ('x{a=~"("}', "no regular expression"),
        ("sum(x) y", "'y' is not supported"),
    ],
)
def test_other_query_needs_a_prometheus(query: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message.replace("(", r"\(")):
        parse(query)


def test_every_query_of_model_servers_is_supported() -> None:
    queries = read_queries(ROLE / "files/model_server.txt", "models")
    assert all(list(selectors(parse(query.within(10, 8).expression))) for query in queries)


def test_work_is_scraped_until_it_has_ended_and_once_after(tmp_path: Path) -> None:
    pages: Iterator[list[Page]] = iter(
        [[_page(10, "p", 1, 100)], [], [_page(12, "p", 2, 140, 4, 8)], [_page(14, "p", 0, 200, 4, 10)]]
    )
    left = [False, False, False, True]
    queries = [
        NamedQuery("waiting_requests", "sum(waiting)", ("mean",), "lower"),
        NamedQuery("p50_seconds", "histogram_quantile(0.5, sum by (le) (rate(ttft_bucket[$WINDOW])))", ("value",)),
        NamedQuery("top", "topk(1, waiting)"),
    ]
    sampling = Sampling(0.01, 60, lambda: left.pop(0), lambda: None)
    scrapes = sample(queries, lambda: next(pages), sampling)
    assert left == []
    outcome = answer_queries(tmp_path, queries, scrapes, "scraped from a test", 2.0)
    assert outcome.failed == {"top": "the function topk is not supported without a Prometheus"}
    check_file(tmp_path / "prometheus_queries.yml")
    document = yaml.safe_load((tmp_path / "prometheus_queries.yml").read_text())
    assert (document["start_s"], document["end_s"], document["url"]) == (10, 14, "")
    answer = json.loads((tmp_path / "waiting_requests.json").read_text())
    assert answer["data"]["result"] == [{"metric": {}, "values": [[10, "1.0"], [12, "2.0"], [14, "0.0"]]}]
    # of the whole window, the scrapes at both ends included: 4 of 10 at most 0.1
    (once,) = json.loads((tmp_path / "p50_seconds.json").read_text())["data"]["result"]
    ((at_s, value),) = once["values"]
    assert at_s == 14
    assert float(value) == pytest.approx(0.1 + 0.4 / 6)
