"""Headings, links and tables of Markdown pages, read with a parser; and broken links.

Links to other sites are not followed: this project cannot guarantee them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")
_PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Heading:
    """A heading with its anchor, in the format of GitHub and the site."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class Link:
    """A link or an image: its target as written, and the first line of its paragraph."""

    target: str
    line: int

    @property
    def elsewhere(self) -> bool:
        """Whether it leads to another site."""
        return bool(_ELSEWHERE.match(self.target))

    @property
    def path(self) -> str:
        """The file or folder, empty for the page itself."""
        return self.target.partition("#")[0]

    @property
    def anchor(self) -> str:
        """The heading in it, empty for none."""
        return self.target.partition("#")[2]


class Page:
    """A page of Markdown."""

    def __init__(self, text: str) -> None:
        """Keep *text*, which is parsed on first use."""
        self.text = text

    @cached_property
    def _tokens(self) -> list[Token]:
        return _PARSER.parse(self.text)

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """All headings in order; repeated anchors have a number."""
        found: list[Heading] = []
        times: dict[str, int] = {}
        for token, inline in zip(self._tokens, self._tokens[1:], strict=False):
            if token.type == "heading_open":
                text = "".join(child.content for child in inline.children or ())
                anchor = _NOT_IN_ANCHORS.sub("", text.lower()).replace(" ", "-")
                number = times[anchor] = times.get(anchor, -1) + 1
                found.append(Heading(int(token.tag[1:]), text, f"{anchor}-{number}" if number else anchor))
        return tuple(found)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """All links and images in order."""
        return tuple(
            Link(str(child.attrs.get("href", child.attrs.get("src"))), (token.map or [0])[0] + 1)
            for token in self._tokens
            for child in token.children or ()
            if child.type in ("link_open", "image")
        )

    def sections(self) -> Iterator[tuple[Heading, tuple[Link, ...]]]:
        """Yield each heading of the second level with the links below it."""
        lines = [token.map[0] + 1 for token in self._tokens if token.type == "heading_open" and token.map]
        for index, heading in enumerate(self.headings):
            if heading.level == 2:
                end = next((lines[at] for at in range(index + 1, len(lines)) if self.headings[at].level <= 2), None)
                below = (one for one in self.links if lines[index] <= one.line and (end is None or one.line < end))
                yield heading, tuple(below)

    def tables(self) -> Iterator[tuple[tuple[str, ...], ...]]:
        """Yield the rows of each table, headings first; cells are unparsed text."""
        rows: list[tuple[str, ...]] = []
        cells: list[str] = []
        for token, following in zip(self._tokens, self._tokens[1:], strict=False):
            if token.type == "table_open":
                rows = []
            elif token.type in ("th_open", "td_open"):
                cells.append(following.content)
            elif token.type == "tr_close":
                rows.append(tuple(cells))
                cells = []
            if following.type == "table_close":
                yield tuple(rows)


def broken(pages: Mapping[Path, Page]) -> Iterator[str]:
    """Yield a sentence for each link of *pages* whose file, folder or heading does not exist.

    The pages of *pages* need not exist as files.
    """
    cached = {path.resolve(): page for path, page in pages.items()}
    for path, page in pages.items():
        for link in page.links:
            if link.elsewhere:
                continue
            target = (path.parent / link.path).resolve() if link.path else path.resolve()
            if target not in cached and not target.exists():
                yield f"{path}:{link.line}: {link.target} no such file"
            elif link.anchor and target.suffix == ".md":
                if target not in cached:
                    cached[target] = Page(target.read_text(encoding="utf-8"))
                if link.anchor not in _anchors(cached[target].headings):
                    yield f"{path}:{link.line}: {link.target}: the page has no heading #{link.anchor}"


def _anchors(headings: Iterable[Heading]) -> set[str]:
    return {heading.anchor for heading in headings}
