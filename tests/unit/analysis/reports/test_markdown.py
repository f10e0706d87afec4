"""The Markdown version of a page: the same content, with a run's text escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from perfanalysis.drawing.blocks import DASH, Cell, Field, Table
from perfanalysis.drawing.wording import markdown_table, plain, table_lines
from perfanalysis.reports.writing import Wanted, make_report

from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.slow


class Cells(HTMLParser):
    """Parse the headings of a page, and the texts of its tables' cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.found: dict[str, list[str]] = {"h2": [], "h3": [], "td": []}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.found:
            self.inside.append(tag)
            self.found[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.found:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.found[self.inside[-1]][-1] += data


def read_back(text: str) -> str:
    """Return a Markdown text without escapes and link addresses."""
    return re.sub(r"\\([\\`*_\[\]<>|#~&])", r"\1", re.sub(r"\]\([^)]*\)", "]", text))


def test_table_omits_columns_that_only_draw_bars() -> None:
    fields = (Field("a|b"), Field("length", "span"), Field("wait", "number", "s"))
    rows = [(Cell("x"), Cell("bar"), Cell("1"))]
    assert list(table_lines(fields, rows, lambda cell: plain(cell.text))) == [
        r"| a\|b | wait (s) |",
        "| --- | ---: |",
        "| x | 1 |",
    ]


def test_compared_setting_is_escaped() -> None:
    """A backtick in one cell and one in the next would format the text between them as code."""
    row = (Cell("image"), Cell("`a`|\\", "x\ny"), Cell("*b*"), Cell("", reason="not stated by this run"))
    table = Table("What *else* differs", tuple(Field(name) for name in "_ABC"), (row,), note="[x](y)")
    assert markdown_table(table) == [
        r"## What \*else\* differs",
        "",
        r"| \_ | A | B | C |",
        "| --- | --- | --- | --- |",
        rf"| image | \`a\`\|\\ (x y) | \*b\* | {DASH} (not stated by this run) |",
        "",
        r"\[x\](y)",
    ]


@pytest.fixture
def failed_run(tmp_path: Path) -> Path:
    return write_run(tmp_path, [Shape(workloads=60, nodes=4, duration=2.0, failing=0.2)], status="failed")


@pytest.mark.usefixtures("quick_plots")
def test_markdown_has_the_sections_tables_and_figures_of_the_page(failed_run: Path) -> None:
    paths = make_report(failed_run, wanted=Wanted(formats=("png",)))
    [(page, twin)] = paths.pages
    text, cells = twin.read_text(), Cells(page.read_text()).found
    titles = [read_back(line.lstrip("# ")) for line in text.splitlines() if re.match("##+ ", line)]
    assert titles[0] == "What failed"
    for title in (*cells["h2"], *(title for title in cells["h3"] if "Message" not in title)):
        assert any(one.startswith(title.strip()) for one in titles) or title in text, title
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    numbers = {cell.strip() for cell in cells["td"] if re.fullmatch(r"[\d.]+\u202fm?s", cell.strip())}
    assert len(numbers) > 20
    assert [number for number in numbers if not any(number in row for row in rows)] == []
    images = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert {f"{path.name}" for path in paths.plots} == set(images)
    assert "*simulated: nodes, pods, synthetic data*" in text
    assert "workload-0012 failed: OOMKilled (exit code 137)" in text


def test_links_lead_to_files(failed_run: Path) -> None:
    [(_page, twin)] = make_report(failed_run).pages
    links = re.findall(r"[^!]\[[^\]]*\]\(([^)]+)\)", twin.read_text())
    assert len(links) > 15
    assert [link for link in links if not (twin.parent / unquote(link)).exists()] == []


def test_every_row_has_all_columns(failed_run: Path) -> None:
    lines = make_report(failed_run).pages[0][1].read_text().splitlines()
    for place, line in enumerate(lines):
        if re.fullmatch(r"\|( -+:? \|)+", line):
            columns = line.count("|")
            below = (row for row in lines[place + 1 :])
            for row in below:
                if not row.startswith("| "):
                    break
                assert len(re.findall(r"(?<!\\)\|", row)) == columns, row


def test_text_of_a_run_is_escaped(failed_run: Path) -> None:
    attack = "a | b\n# heading <script>x</script> [link](http://example.org) `code`"
    path = failed_run / "settings.yml"
    document = yaml.safe_load(path.read_text())
    document["all"]["scale_test_note"] = {"value": attack, "origin": "x"}
    path.write_text(yaml.safe_dump(document))
    text = make_report(failed_run).pages[0][1].read_text()
    assert r"a \| b \# heading \<script\>x\</script\> \[link\](http://example.org) \`code\`" in text


def test_fence_in_a_log_does_not_end_the_block(failed_run: Path) -> None:
    log = failed_run / "002__scale_test__submit" / "artifacts" / "recorder.log"
    log.write_text("```\nstill the log\n")
    text = make_report(failed_run).pages[0][1].read_text()
    assert "````text\n```\nstill the log\n````\n" in text
