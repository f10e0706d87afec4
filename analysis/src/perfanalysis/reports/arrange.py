"""Select what a layout requests of a report's content, in its order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any

from perfanalysis.drawing.blocks import Block, Note, Section
from perfanalysis.drawing.charts import Figure
from perfanalysis.errors import UsageError, did_you_mean
from perfanalysis.files.findings import Finding
from perfanalysis.files.typed_yaml import suggest
from perfanalysis.reports.content import Content, Group
from perfanalysis.reports.layout import EVERYTHING, Entry, Page, Where, known_names

ONLY_WHEN_NEEDED = ("errors", "headlines", "data", "verdicts", "comparison")
"""Sections that may be missing in a report without a note: nothing failed, or there is one recording only."""


@dataclass(frozen=True)
class Placed:
    """A section with the identifier of its heading on the page."""

    anchor: str
    section: Section


@dataclass(frozen=True)
class Passage:
    """Consecutive sections of the run or of one recording; a recording's have its name and directory."""

    anchor: str
    label: str
    directory: str
    sections: tuple[Placed, ...]
    detailed: bool = True


@dataclass(frozen=True)
class _Pick:
    """One item to show: a section or one block of it, of the run or of the recordings."""

    of_recordings: bool
    section: str
    block: str | None
    part: Entry


def named_blocks(section: Section) -> Iterator[tuple[str, Block]]:
    """Return the blocks of a section that a layout can name."""
    return ((block.name, block) for block in section.blocks if not isinstance(block, Note))


def arranged(page: Page, content: Content, file: Path | None) -> tuple[tuple[Passage, ...], tuple[Finding, ...]]:
    """Return what a page shows, and notes about requested items that this run does not have.

    `file` is the layout's, None for the default one. Raises UsageError for an unknown name.
    """
    picks, findings = _picked(page, content, file)
    anchors = _Anchors()
    passages: list[Passage] = []
    for of_recordings, several in _stretches(picks):
        found = _of_recordings(several, content, anchors) if of_recordings else _of_run(several, content, anchors)
        passages += _together(found)
    return tuple(passage for passage in passages if passage.sections), findings


def _picked(page: Page, content: Content, file: Path | None) -> tuple[list[_Pick], tuple[Finding, ...]]:
    picks: list[_Pick] = []
    findings: list[Finding] = []
    rest = _Rest(page)
    for part in page.entries:
        for name in part.generate:
            found = rest.of(content, part) if name == EVERYTHING else list(_resolved(name, content, part))
            picks += found
            if not found and name != EVERYTHING:
                _check_known(name, content, part, file)
                if name not in ONLY_WHEN_NEEDED:
                    findings.append(Finding("note", file.name if file else "report", f"this run has no {name}"))
    return picks, tuple(findings)


class _Rest:
    """Return what `*` means on a page: every section that no other entry of it names."""

    def __init__(self, page: Page) -> None:
        self.patterns = [name for part in page.entries for name in part.generate if name != EVERYTHING]

    def of(self, content: Content, part: Entry) -> list[_Pick]:
        return [
            _Pick(of_recordings, section.name, None, part)
            for of_recordings, section in _sections(content)
            if not any(fnmatchcase(section.name, pattern) for pattern in self.patterns)
            and not (part.where and not of_recordings)
        ]


def _sections(content: Content) -> Iterator[tuple[bool, Section]]:
    """Return the sections of all recordings, each name once, then those of the run."""
    seen: set[str] = set()
    for group in content.groups:
        for section in group.sections:
            if section.name not in seen:
                seen.add(section.name)
                yield True, section
    yield from ((False, section) for section in content.sections)


def _blocks(content: Content) -> Iterator[tuple[bool, str, str]]:
    """Return whether of recordings, section, block: each once."""
    found = [(True, section, name) for group in content.groups for section, name in _names(group.sections)]
    found += [(False, section, name) for section, name in _names(content.sections)]
    yield from dict.fromkeys(found)


def _names(sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    return ((section.name, name) for section in sections for name, _ in named_blocks(section))


def _resolved(name: str, content: Content, part: Entry) -> Iterator[_Pick]:
    """Return what a name means: sections, else single blocks. With a filter, only those of recordings."""
    usable = (one for one in _sections(content) if one[0] or not part.where)
    whole = [_Pick(one, section.name, None, part) for one, section in usable if fnmatchcase(section.name, name)]
    if whole:
        yield from whole
        return
    outer, dot, inner = name.rpartition(".")
    for of_recordings, section, block in _blocks(content):
        fits = fnmatchcase(block, inner) and (not dot or fnmatchcase(section, outer))
        if fits and (of_recordings or not part.where):
            yield _Pick(of_recordings, section, block, part)


def _check_known(name: str, content: Content, part: Entry, file: Path | None) -> None:
    """Reject a name that neither this run nor any kind of workload has."""
    here = {section.name for _, section in _sections(content)} | {block for _, _, block in _blocks(content)}
    known = here | known_names()
    if any(fnmatchcase(one, name.rpartition(".")[2]) for one in known):
        return
    where = _line_of(name, part, file)
    meant = did_you_mean(name.rpartition(".")[2], known)
    raise UsageError(
        f"{where}: no section or block is called {name}; {meant or 'run `perfanalysis report RUN --list-plots`'}"
    )


def _line_of(name: str, part: Entry, file: Path | None) -> str:
    """Return file and line of a name: the first line at or below its part that contains it."""
    if file is None:
        return part.at
    begin = int(part.at.rpartition(":")[2])
    lines = file.read_text(encoding="utf-8").splitlines()
    found = (place for place, line in enumerate(lines, 1) if place >= begin and name in line)
    return f"{file}:{next(found, begin)}"


def _stretches(picks: list[_Pick]) -> Iterator[tuple[bool, list[_Pick]]]:
    """Group consecutive picks that are all of the run, or all of the recordings."""
    row: list[_Pick] = []
    for pick in picks:
        if row and row[0].of_recordings != pick.of_recordings:
            yield row[0].of_recordings, row
            row = []
        row.append(pick)
    if row:
        yield row[0].of_recordings, row


def _of_run(picks: list[_Pick], content: Content, anchors: _Anchors) -> Iterator[Passage]:
    sections = tuple(_merged(picks, {section.name: section for section in content.sections}))
    placed = tuple(Placed(anchors.of(section.name), section) for section in sections)
    yield Passage("", "", "", placed)


def _of_recordings(picks: list[_Pick], content: Content, anchors: _Anchors) -> Iterator[Passage]:
    for number, group in enumerate(content.groups):
        own = [pick for pick in picks if matches(pick.part.where, group)]
        sections = tuple(_merged(own, {section.name: section for section in group.sections}))
        prefix = f"r{number}-" if len(content.groups) > 1 else ""
        label = group.label if len(content.groups) > 1 else ""
        placed = tuple(Placed(anchors.of(f"{prefix}{section.name}"), section) for section in sections)
        if placed:
            yield Passage(anchors.of(f"{prefix}top"), label, group.directory, placed, group.detailed)


def _together(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Merge consecutive passages of one directory and label, such as a load and the metrics of its server."""
    for _, same in groupby(passages, key=lambda one: (one.label, one.directory, one.detailed)):
        first, *others = same
        yield replace(first, sections=(*first.sections, *(one for other in others for one in other.sections)))


def _merged(picks: list[_Pick], sections: Mapping[str, Section]) -> Iterator[Section]:
    """Return the sections of some picks; consecutive picks of one section, or part with a heading, are merged."""
    row: list[tuple[_Pick, Section, tuple[Block, ...]]] = []
    for pick in picks:
        section = sections.get(pick.section)
        blocks = _chosen(section, pick.block) if section is not None else ()
        if section is None or not blocks:
            continue
        if row and _heading(row[-1][0]) != _heading(pick):
            yield _joined(row)
            row = []
        row.append((pick, section, blocks))
    if row:
        yield _joined(row)


def _chosen(section: Section, block: str | None) -> tuple[Block, ...]:
    return section.blocks if block is None else tuple(one for name, one in named_blocks(section) if name == block)


def _heading(pick: _Pick) -> tuple[str, str]:
    """Return the items under one heading."""
    return (pick.part.at, pick.part.section) if pick.part.section else ("", pick.section)


def _joined(row: list[tuple[_Pick, Section, tuple[Block, ...]]]) -> Section:
    pick, section, _ = row[0]
    blocks = tuple(block for _, _, found in row for block in found)
    if pick.part.section:
        return Section(section.name, pick.part.section, pick.part.text, blocks)
    return Section(section.name, section.title, pick.part.text or section.text, blocks)


class _Anchors:
    """Identifiers of headings, each unique."""

    def __init__(self) -> None:
        self.given: set[str] = set()

    def of(self, wanted: str) -> str:
        """Return the wanted identifier, with a number if it is taken."""
        anchor, number = wanted, 2
        while anchor in self.given:
            anchor, number = f"{wanted}-{number}", number + 1
        self.given.add(anchor)
        return anchor


def matches(where: Where, group: Group) -> bool:
    """Return whether a recording matches a filter."""
    found = ((asked, _key(name, group.labels)) for name, asked in where.items())
    return all(key is not None and _fits(asked, group.labels[key]) for asked, key in found)


def _fits(asked: Any, value: str) -> bool:
    wanted = asked if isinstance(asked, tuple) else (asked,)
    return any(fnmatchcase(value.lower(), _text(one).lower()) for one in wanted)


def _text(value: str | int | float | bool) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _key(name: str, labels: Mapping[str, str]) -> str | None:
    """Return the label that a filter's name means: itself, or a setting that ends with it."""
    if name in labels:
        return name
    ends = [label for label in labels if label.endswith((f"_{name}", f".{name}"))]
    return ends[0] if len(ends) == 1 else None


def check_filters(page: Page, groups: tuple[Group, ...], file: Path | None) -> tuple[Finding, ...]:
    """Reject a filter by a label that no recording has; add a note if no recording matches."""
    findings = []
    for at, where in ((page.at, page.where), *((part.at, part.where) for part in page.entries if part.where)):
        for name in where:
            known = sorted({label for group in groups for label in group.labels})
            if groups and not any(_key(name, group.labels) for group in groups):
                raise UsageError(f"{at}: no recording has a {name} to filter by; {suggest(name, known)}")
        if where and not any(matches(where, group) for group in groups):
            words = ", ".join(f"{name}: {asked}" for name, asked in where.items())
            findings.append(Finding("warning", file.name if file else "report", f"no recording has {words}"))
    return tuple(findings)


def figures_of(passages: Iterable[Passage]) -> Iterator[Figure]:
    """Return the figures that some passages show."""
    blocks = (block for passage in passages for placed in passage.sections for block in placed.section.blocks)
    return (block for block in blocks if isinstance(block, Figure))
