"""Parse a scale test's recording."""

from __future__ import annotations

from perfanalysis.scale_test.tables import EVENTS, NODES, SUBMISSIONS, TRANSITIONS, ScaleTestTables
from perfanalysis.workload_type import Source

FILES = ("submissions.jsonl", "transitions.jsonl", "events.jsonl", "nodes.json")


def parse(source: Source) -> ScaleTestTables:
    """The recording's files as typed tables."""
    return ScaleTestTables(
        submissions=source.json_lines("submissions.jsonl", SUBMISSIONS),
        transitions=source.json_lines("transitions.jsonl", TRANSITIONS),
        events=source.json_lines("events.jsonl", EVENTS),
        nodes=source.rows("nodes.json", "nodes", "nodes", NODES),
    )
