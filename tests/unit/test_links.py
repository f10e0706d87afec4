"""Links in docs/, in the READMEs, and in the roles' READMEs of the published collection."""

from __future__ import annotations

from pathlib import Path

from docs.website.commands import write_readmes
from docs.website.markdown_pages import Page, broken
from tests.programs import PROJECT, ROLES


def test_no_link_of_the_project_is_broken(tmp_path: Path) -> None:
    there = [PROJECT / "README.md", ROLES.parent / "README.md", *(PROJECT / "docs").rglob("*.md")]
    for role in ROLES.iterdir():
        (tmp_path / role.name).mkdir()
    write_readmes(tmp_path)
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in there}
    # Their location in the published collection
    made = {ROLES / path.parent.name / path.name: path for path in tmp_path.glob("*/README.md")}
    pages |= {path: Page(source.read_text(encoding="utf-8")) for path, source in made.items()}
    found = "\n".join(broken(pages))
    assert not found, found


def test_broken_links_are_named(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One\n\n## The `same`, twice\n\n## The same twice\n")
    page = tmp_path / "page.md"
    text = (
        "# Page\n\n[a](other.md), [b](other.md#the-same-twice), [c](other.md#the-same-twice-1), [d](#page)\n\n"
        "`[e](none.md)` [f](https://elsewhere.example/none)\n\n```text\n[g](none.md)\n```\n\n"
        "[h](other.md#none),\n![i](none.png)\n\n| [j](#none) |\n|---|\n| [k](other/) |\n"
    )
    assert list(broken({page: Page(text)})) == [
        f"{page}:11: other.md#none: the page has no heading #none",
        f"{page}:11: none.png no such file",
        f"{page}:14: #none: the page has no heading #none",
        f"{page}:16: other/ no such file",
    ]


def test_links_of_a_section_are_those_below_it() -> None:
    page = Page("[a](a.md)\n\n## One\n\n* [b](b.md)\n\n### Below\n\n[c](c.md)\n\n## Two\n\n[d](d.md)\n")
    sections = [(heading.text, [link.target for link in links]) for heading, links in page.sections()]
    assert sections == [("One", ["b.md", "c.md"]), ("Two", ["d.md"])]


def test_rows_of_tables_are_parsed() -> None:
    page = Page("| a | b |\n|---|---|\n| `c` | [d](e.md) |\n\n# F\n\n| g |\n|---|\n")
    assert list(page.tables()) == [(("a", "b"), ("`c`", "[d](e.md)")), (("g",),)]
