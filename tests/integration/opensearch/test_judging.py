"""The history of the driver's judgement in a real OpenSearch."""

from __future__ import annotations

from perfanalysis.results.opensearch.connection import Server
from perfci.judging.sources import OpenSearchSource

from tests.unit.analysis.histories import document, kpi


def test_history_in_opensearch_is_empty_first_and_pushed_once(server: Server) -> None:
    source = OpenSearchSource(server)
    assert source.pull("scale_test").documents == ()
    known = source.shown(document(1, [kpi("wait", 1.0)]))
    assert source.push(known)
    assert not source.push(known)
    (pulled,) = source.pull("scale_test").documents
    assert pulled == known
    assert source.pull("kserve").documents == ()
