"""Parse a scale test's recording."""

from __future__ import annotations

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.scale_test import tables
from perfanalysis.workloads.scale_test.tables import ScaleTestTables

ALWAYS = ("submissions.jsonl", "transitions.jsonl", "events.jsonl", "nodes.json")
SOMETIMES = ("churn.jsonl", "control_plane.jsonl")
FILES = (*ALWAYS, *SOMETIMES)


def parse(source: RecordingFiles) -> ScaleTestTables:
    """Return the recording's files as typed tables; without churn or scraped metrics, those two are empty."""
    nodes = source.document("nodes.json", "nodes")
    return ScaleTestTables(
        submissions=source.json_lines("submissions.jsonl", tables.SUBMISSIONS),
        transitions=source.json_lines("transitions.jsonl", tables.TRANSITIONS),
        events=source.json_lines("events.jsonl", tables.EVENTS),
        nodes=source.rows("nodes.json", "nodes", "nodes", tables.NODES),
        domains=source.table(tables.domains_in(nodes), tables.DOMAINS, "nodes.json", "domains"),
        churn=source.json_lines("churn.jsonl", tables.CHURN, optional=True),
        control_plane=source.json_lines("control_plane.jsonl", tables.CONTROL_PLANE, optional=True),
    )
