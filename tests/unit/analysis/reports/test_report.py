"""Reports of finished, failed, killed and empty runs."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from perfanalysis.errors import UsageError
from perfanalysis.reports.writing import make_report

from tests.data.synthetic_runs import Shape, write_json, write_run
from tests.unit.analysis.pages import figures_in

pytestmark = pytest.mark.slow

LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction"}


class Page(HTMLParser):
    """Parse the resources that a page would load, its identifiers, links within it, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.identifiers: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.scripts = 0
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        for name, value in attrs:
            if name == "id" and value:
                self.identifiers.append(value)
            if name in LOADING or (name == "href" and tag == "link"):
                self.loads.append(value or "")
            if name == "href" and tag == "a" and value and value.startswith("#"):
                self.links.append(value[1:])

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:
            self.words.append(data)


def page_of(run: Path) -> Page:
    return Page((run / "report" / "index.html").read_text())


def test_page_is_self_contained(small_run: Path) -> None:
    paths = make_report(small_run)
    page = page_of(small_run)
    assert [load for load in page.loads if not load.startswith("data:")] == []
    assert len(page.identifiers) == len(set(page.identifiers))
    assert set(page.links) <= set(page.identifiers)
    assert paths.index.stat().st_size < 3_000_000
    for part in ("simulated: nodes, pods, synthetic data", "Latency over time", "Every workload accounted for"):
        assert part in page.text
    for part in ("scale_test_rate", "presets/smoke.yml:4", "ansible-core", "2.19.14", "nfd_wait_gpu_nodes"):
        assert part in page.text


def test_second_report_uses_the_stored_tables(small_run: Path) -> None:
    first = make_report(small_run).index.read_bytes()
    before = (small_run / "report" / "tables" / "002__scale_test__submit" / "transitions.parquet").stat().st_mtime_ns
    assert make_report(small_run).index.read_bytes() == first
    after = (small_run / "report" / "tables" / "002__scale_test__submit" / "transitions.parquet").stat().st_mtime_ns
    assert before == after


def test_killed_run_lists_missing_data(killed_run: Path) -> None:
    paths = make_report(killed_run)
    texts = [finding.text for finding in paths.findings]
    assert sum("truncated" in text for text in texts) == 3
    assert any("the recorder has not ended" in text for text in texts)
    assert all(finding.severity != "error" for finding in paths.findings)
    page = page_of(killed_run)
    assert "interrupted" in page.text
    values = {kpi["name"]: kpi for kpi in json.loads(paths.kpis.read_text())["kpis"]}
    assert values["lost_ratio"]["reason"] == "the recorder did not state it"
    assert "workloads had not ended" in values["makespan"]["reason"]


def test_failed_run_shows_the_reason(tmp_path: Path) -> None:
    shape = Shape(workloads=60, nodes=4, duration=2.0, failing=0.2, refused=0.1, lost=0.1)
    run = write_run(tmp_path, [shape], status="failed")
    paths = make_report(run)
    assert "failures" in figures_in(paths.index)
    assert [finding.text for finding in paths.findings if finding.severity == "error"] == ["8 workloads were lost"]
    text = page_of(run).text
    for part in ("12 of 300 workloads failed", "What failed", "OOMKilled", "BackoffLimitExceeded", "HTTP 403"):
        assert part in text


def test_cells_are_compared(matrix_run: Path) -> None:
    paths = make_report(matrix_run)
    assert {"compared.distributions", "cell_0.general", "cell_1.general"} <= set(figures_in(paths.index))
    page = page_of(matrix_run)
    assert "Results of every cell" in page.text
    assert "cell 1: workload_kind=PyTorchJob, workloads=20" in page.text
    assert set(page.links) <= set(page.identifiers)
    labels = [kpi["labels"] for kpi in json.loads(paths.kpis.read_text())["kpis"]]
    assert {label["scale_test_workload_kind"] for label in labels} == {"Job", "PyTorchJob"}


def test_cells_without_recordings_are_listed(matrix_run: Path) -> None:
    document = {"schema": "psap.perf/cell/1", "index": 7, "values": {"scale_test_workloads": 5}, "status": "failed"}
    write_json(matrix_run / "008__cell__7" / "cell.json", document)
    make_report(matrix_run)
    assert "cell 7 failed, no recording" in page_of(matrix_run).text


def test_run_without_a_recording_has_a_report(tmp_path: Path) -> None:
    attempts = [
        {"started": f"2026-01-01T{hour}:00:00Z", "ended": f"2026-01-01T{hour}:00:20Z", "status": "refused"}
        for hour in (10, 14)
    ]
    document = {"schema": "psap.perf/run/1", "id": "r", "status": "refused", "attempts": attempts}
    write_json(tmp_path / "run.json", document)
    paths = make_report(tmp_path)
    assert figures_in(paths.index) == []
    assert "plotly.js" not in paths.index.read_text()
    page = page_of(tmp_path)
    messages = ("no recording found", "settings.yml is missing or empty", "No command of this run")
    for part in ("refused", "40.0 s", *messages):
        assert part in page.text


def test_empty_recording_has_a_report(small_run: Path) -> None:
    for name in ("submissions.jsonl", "transitions.jsonl", "events.jsonl", "nodes.json", "accounting.json"):
        (small_run / "002__scale_test__submit" / "artifacts" / name).unlink()
    paths = make_report(small_run)
    assert figures_in(paths.index) == ["timeline"]
    assert "Nothing was submitted or seen" in page_of(small_run).text
    assert sum(finding.text == "the file is missing" for finding in paths.findings) >= 4


@pytest.mark.parametrize("odd", [5, "text", [], {}, [None], None], ids=repr)
def test_documents_with_wrong_types_have_a_report(small_run: Path, odd: object) -> None:
    for name in ("run.json", "002__scale_test__submit/status.json", "002__scale_test__submit/artifacts/recording.json"):
        path = small_run / name
        document = json.loads(path.read_text())
        path.write_text(json.dumps({key: value if key == "schema" else odd for key, value in document.items()}))
    assert "Every workload accounted for" in make_report(small_run).index.read_text()


def test_nodes_of_other_types_are_counted(small_run: Path) -> None:
    nodes = [{"name": "a", "gpus": 8}, {"name": "b", "gpus": "8"}, 5]
    path = small_run / "002__scale_test__submit" / "artifacts" / "nodes.json"
    write_json(path, {"schema": "psap.perf/nodes/1", "nodes": nodes})
    [finding] = make_report(small_run).findings
    assert finding.text == "2 entries of nodes do not have the declared types and were left out"


def test_text_of_a_run_is_escaped(small_run: Path) -> None:
    attack = "</script><script>document.title='taken'</script><img src=http://example.org/x>"
    path = small_run / "settings.yml"
    document = yaml.safe_load(path.read_text())
    document["all"][attack] = {"value": attack, "origin": attack}
    path.write_text(yaml.safe_dump(document))
    lines = small_run / "002__scale_test__submit" / "artifacts" / "transitions.jsonl"
    last = json.loads(lines.read_text().splitlines()[-1])
    lines.write_text(lines.read_text() + json.dumps({**last, "transition": "failed", "reason": attack}) + "\n")
    make_report(small_run)
    page = page_of(small_run)
    assert [load for load in page.loads if not load.startswith("data:")] == []
    assert page.scripts == 4
    assert "document.title='taken'" in page.text


def test_recorded_run_of_major_version_1_is_read(recorded_run: Path, tmp_path: Path) -> None:
    paths = make_report(recorded_run, tmp_path / "report")
    assert paths.index.is_file()
    assert {"general", "gpus"} <= set(figures_in(paths.index))
    assert all(finding.severity == "note" for finding in paths.findings)


def test_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a directory"):
        make_report(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"neither run\.json nor a recording"):
        make_report(tmp_path)
    write_json(tmp_path / "run.json", {"schema": "psap.perf/run/1", "id": "r", "status": "refused"})
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="choose another directory with --output"):
        make_report(tmp_path, tmp_path / "file" / "report")
