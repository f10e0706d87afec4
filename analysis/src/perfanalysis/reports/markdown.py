"""The report as Markdown: the same sections, tables and words as the page; figures by their files, if any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from perfanalysis.drawing.blocks import Block, Cell, Failure, Field, Link, Remarks, Section, Table, Tiles
from perfanalysis.drawing.charts import Figure
from perfanalysis.drawing.page import Drawn, href
from perfanalysis.drawing.wording import cell_text, markdown_table, plain, table_lines
from perfanalysis.output import printable
from perfanalysis.reports.arrange import Passage
from perfanalysis.reports.page import Sheet

DOT = " \u00b7 "
FENCE = "```"


def render_markdown(sheet: Sheet, drawn: Iterable[Drawn]) -> str:
    """Return the text of the Markdown version; `twin` of the sheet is the page."""
    writer = _Writer(sheet.base, {id(item.figure): item for item in drawn})
    lines = [*_head(sheet), *(line for passage in sheet.passages for line in writer.passage(passage))]
    return "\n".join(_without_double_gaps(lines)).strip() + "\n"


def _head(sheet: Sheet) -> Iterator[str]:
    head = sheet.head
    yield f"# {plain(head.title)}"
    yield ""
    yield f"**{plain(head.status)}**{DOT}{plain(head.flow)}{DOT}[HTML version]({sheet.twin})"
    yield ""
    if head.marks:
        yield f"*{plain(DOT.join(head.marks))}*"
        yield ""
    if head.reason["what"]:
        words = (head.reason[name] for name in ("what", "why", "where"))
        yield f"> {DOT.join(plain(word) for word in words if word)}"
        yield ""
    for fact in head.facts:
        yield f"- {plain(fact.label)}: {plain(f'{fact.text} {fact.detail}'.strip())}"
    yield ""


def _without_double_gaps(lines: list[str]) -> Iterator[str]:
    before = ""
    for line in lines:
        if line or before:
            yield line
        before = line


class _Writer:
    """Writes blocks; resolves links and the files of figures."""

    def __init__(self, base: str, files: Mapping[int, Drawn]) -> None:
        self.base, self.files = base, files

    def passage(self, passage: Passage) -> Iterator[str]:
        """Write a recording's name, if there are several, and the sections."""
        if passage.label:
            yield f"## {plain(passage.label)}"
            yield ""
            yield self._link(Link(passage.directory))
            yield ""
        for placed in passage.sections:
            yield from self._section(placed.section, "###" if passage.label else "##")

    def _section(self, section: Section, level: str) -> Iterator[str]:
        yield f"{level} {plain(section.title)}"
        yield ""
        if section.text:
            yield plain(section.text)
            yield ""
        for block in section.blocks:
            yield from self._block(block, f"{level}#")
            yield ""

    def _block(self, block: Block, level: str) -> Iterator[str]:
        if isinstance(block, Figure):
            yield from self._figure(block, level)
        elif isinstance(block, Table):
            yield from markdown_table(block, level, self._cell)
        elif isinstance(block, Failure):
            yield from self._failure(block, level)
        elif isinstance(block, Tiles):
            tiles = ((Cell(tile.label, tile.help), tile.value) for tile in block.tiles)
            yield from table_lines((Field("Result"), Field("Value", "number")), tiles, self._cell)
        elif isinstance(block, Remarks):
            for one, places in block.grouped():
                linked = (self._link(Link(where, where)) if where in block.links else plain(where) for where in places)
                yield f"- **{one.severity}** {', '.join(linked)}: {plain(one.text)}"
        else:
            yield plain(block.text)

    def _figure(self, figure: Figure, level: str) -> Iterator[str]:
        yield f"{level} {plain(figure.title)}"
        yield ""
        files = self.files[id(figure)].files
        if files:
            yield f"![{plain(figure.title)}]({href('', files[0])})"
            yield ""
        marks = f" *{plain(DOT.join(figure.short_marks))}*" if figure.marks else ""
        yield f"{plain(figure.caption)}{marks}".strip()

    def _cell(self, cell: Cell) -> str:
        return cell_text(cell, lambda path, text: self._link(Link(path, text)))

    def _link(self, link: Link) -> str:
        words = f" ({plain(link.detail)})" if link.detail else ""
        return f"[{plain(link.text or link.path)}]({href(self.base, link.path)}){words}"

    def _failure(self, failure: Failure, level: str) -> Iterator[str]:
        yield f"{level} {plain(failure.title)}: {plain(failure.word)}"
        yield ""
        facts = (("Task", failure.what), ("Where", failure.where))
        yield from (f"- {name}: {plain(text)}" for name, text in facts if text)
        if failure.directory is not None:
            yield f"- Directory: {self._link(failure.directory)}"
        yield ""
        yield from _fenced(failure.why.splitlines())
        for log in failure.logs:
            yield ""
            yield f"The end of {self._link(log.link)}:"
            yield ""
            yield from _fenced(log.lines)
        if failure.captured:
            yield ""
            yield "Captured:"
            yield ""
            yield from (f"- {self._link(link)}" for link in failure.captured)


def _fenced(lines: Iterable[str]) -> list[str]:
    """Return text unchanged, in a fence that is longer than any fence in it."""
    known = list(map(printable, lines))
    fence = FENCE
    while any(fence in line for line in known):
        fence += "`"
    return [f"{fence}text", *known, fence]
