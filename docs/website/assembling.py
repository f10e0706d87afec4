"""Assembles the input of Sphinx: the pages of docs/, and pages generated from the project's declarations."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.naming import groups
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import SHARED_ROLE, CommandSpec

from docs.website import collection, gallery, kpi_page, settings_pages
from docs.website.commands import commands_by_group, example, words
from docs.website.markdown_pages import Link, Page
from docs.website.topsail_page import topsail_page

_HERE = Path(__file__).resolve().parent
PROJECT = _HERE.parent.parent
DOCS = PROJECT / "docs"
_COLLECTION = PROJECT / "collections/ansible_collections/psap/perf"
INDEX = "index.md"
REFERENCE = "Reference"
FURTHER = "Further pages"
# other folders of docs/ that pages show or link to
_FILES = ("ci", "images", "schema")
_PLUGINS = {
    "module": ("Verbs", "The modules from which roles are composed."),
    "filter": ("Filters", "Computations without side effects."),
    "lookup": ("Lookups", ""),
    "vars": ("Vars plugins", ""),
    "callback": ("Callbacks", ""),
    "role": ("Shared roles", "Roles whose arguments several commands accept."),
}


def assemble(folder: Path) -> None:
    """Write the input of Sphinx to *folder*, which must not exist.

    Raises:
        collection.CollectionError: a page of the collection cannot be generated.
        gallery.GalleryError: a report of the gallery cannot be generated.
        UsageError: a declaration of the project is wrong.
    """
    project = Project(PROJECT)
    commands = commands_by_group()
    roles = {
        spec.role: (f"{words(group)} {words(command)}", example(group, command, spec))
        for group, own in commands.items()
        for command, spec in own.items()
    }
    documented = collection.write_pages(PROJECT, folder / "collection", roles.get)
    made: dict[str, Iterable[str]] = {
        "commands/index.md": _commands_index(commands),
        **{f"commands/{group}.md": _group(group, own) for group, own in commands.items()},
        "collection/index.md": _plugins(documented),
        "settings/index.md": _settings_index(project),
        **{f"settings/{name}.md": settings_pages.flow_page(project, project.flow(name)) for name in project.flows},
        "coming-from-topsail.md": topsail_page(project.roles),
        "gallery.md": gallery.page(),
        "presets.md": settings_pages.presets_page(project),
        "kpis/index.md": kpi_page.kpi_page(DOCS),
        "exit-codes.md": _exit_codes(Page((DOCS / "driver.md").read_text(encoding="utf-8"))),
    }
    if project.shared is not None:
        made[f"settings/{settings_pages.ALL_FLOWS}.md"] = settings_pages.shared_page(project, project.shared)
    for name, lines in made.items():
        _write(folder / name, "\n".join(lines) + "\n")
    own = {path.relative_to(DOCS).as_posix(): path for path in _own_pages()}
    for name, path in own.items():
        _write(folder / name, _relinked(name, path.read_text(encoding="utf-8")))
    index = Page((folder / INDEX).read_text(encoding="utf-8"))
    _write(folder / INDEX, index.text + "\n".join(_navigation(index, own)) + "\n")
    for name in _FILES:
        shutil.copytree(DOCS / name, folder / name)
    shutil.copytree(_HERE / "static", folder / "static")
    gallery.write_reports(folder / "extra" / gallery.FOLDER)
    shutil.copy(_HERE / "conf.py", folder)


def _own_pages() -> Iterator[Path]:
    """Yield the written pages."""
    yield from DOCS.glob("*.md")
    yield from DOCS.glob("tutorials/*.md")


def _navigation(index: Page, own: Iterable[str]) -> Iterator[str]:
    """Yield the tables of contents that the theme shows beside each page: the index's sections and generated pages."""
    named = {INDEX}
    for section, links in index.sections():
        pages = [link.path for link in links if not link.elsewhere and link.path]
        named.update(pages)
        made = _REFERENCE_PAGES if section.text == REFERENCE else {}
        yield from _toctree([*(page for page in pages if page not in made), *made], made, section.text)
    left = sorted(set(own) - named)
    if left:
        yield from _toctree(left, {}, FURTHER)


_REFERENCE_PAGES = {
    "commands/index.md": "Commands",
    "collection/index.md": "Verbs and other plugins",
    "settings/index.md": "Settings",
    "presets.md": "Presets",
    "kpis/index.md": "KPIs",
    "exit-codes.md": "Exit codes",
}


def _toctree(pages: Sequence[str], titles: Mapping[str, str], caption: str = "") -> Iterator[str]:
    yield from ("", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "")
    for page in pages:
        place = page.removesuffix(".md").removesuffix(".rst")
        yield f"{titles[page]} <{place}>" if page in titles else place
    yield "```"


def _commands_index(commands: Mapping[str, Mapping[str, CommandSpec]]) -> Iterator[str]:
    yield from ("# Commands", "")
    yield "Each command is a role of the collection, and runs alone or in a flow. `perfdrv commands` lists them too."
    yield "This page is generated from the roles' `meta/argument_specs.yml`."
    for group, own in commands.items():
        yield from ("", f"## [{words(group)}]({group}.md)", "", f"{groups()[group]}.", "")
        yield from _command_table(own)
    yield from _toctree([f"{group}.md" for group in commands], {f"{group}.md": words(group) for group in commands})


def _group(group: str, own: Mapping[str, CommandSpec]) -> Iterator[str]:
    yield from (f"# Commands of {words(group)}", "", f"{groups()[group]}.", "")
    yield from _command_table(own)
    pages = {f"../collection/{spec.role}_role.rst": words(command) for command, spec in own.items()}
    yield from _toctree(list(pages), pages)


def _command_table(own: Mapping[str, CommandSpec]) -> Iterator[str]:
    yield from ("| command | description |", "|---|---|")
    for command, spec in own.items():
        yield f"| [{words(command)}](../collection/{spec.role}_role.rst) | {spec.short_description} |"


def _plugins(documented: Sequence[collection.Documented]) -> Iterator[str]:
    yield from ("# Verbs and other plugins", "")
    yield "Generated from the documentation of the plugins of `psap.perf`, which `ansible-doc` shows too."
    for kind, (heading, purpose) in _PLUGINS.items():
        listed = [
            one for one in documented if one.kind == kind and (kind != "role" or one.name.startswith(SHARED_ROLE))
        ]
        pages = {one.file: one.name for one in listed}
        yield from ("", f"## {heading}", "", *([purpose, ""] if purpose else []))
        yield from ("| plugin | description |", "|---|---|")
        yield from (f"| [{one.name}]({one.file}) | {one.words} |" for one in listed)
        yield from _toctree(list(pages), pages)


def _settings_index(project: Project) -> Iterator[str]:
    yield from ("# Settings", "", "A page for the settings of each flow, and one for those that all flows share.", "")
    pages = {f"{name}.md": name for name in project.flows} | {f"{settings_pages.ALL_FLOWS}.md": "all flows"}
    yield from (f"* [{words}]({page})" for page, words in pages.items())
    yield from _toctree(list(pages), pages)


def _exit_codes(driver: Page) -> Iterator[str]:
    yield from ("# Exit codes", "")
    yield "They are the same for `perfdrv`, `perfanalysis` and `perflab`, in all commands and flows"
    yield "(details: [the driver](driver.md#running-a-flow))."
    yield from ("", "| exit code | meaning |", "|---|---|")
    for head, *rows in driver.tables():
        if head[0] == "exit code":
            yield from (f"| `{row[0]}` | {row[1]} |" for row in rows)


def _relinked(name: str, text: str) -> str:
    """Return the page with its links to files of the repository replaced: by a page of the site, or by the address."""
    for link in {one.target: one for one in Page(text).links if not one.elsewhere and one.path}.values():
        target = _target(name, link)
        if target is not None:
            text = re.sub(rf"\]\({re.escape(link.target)}(?=[)\s])", f"]({target}", text)
    return text


def _target(name: str, link: Link) -> str | None:
    """Return the target of a link of the page *name* on the site; None if it stays as written."""
    path = Path(os.path.normpath(DOCS / Path(name).parent / link.path))
    up = "../" * (len(Path(name).parts) - 1)
    if page := _page_made_of(path, link.anchor):
        return f"{up}{page}"
    if path.is_dir() or not path.is_relative_to(DOCS):
        kind = "tree" if path.is_dir() else "blob"
        return f"{_repository()}/{kind}/main/{path.relative_to(PROJECT).as_posix()}"
    return None


def _page_made_of(path: Path, anchor: str) -> str | None:
    """Return the page that is generated from a declaration in the repository, if any."""
    if path == _COLLECTION / "meta/groups.yml":
        return f"commands/{anchor or 'index'}.md"
    if path == _HERE / "gallery.py":
        return "gallery.md"
    if path == _COLLECTION / "meta/topsail.yml":
        return "coming-from-topsail.md"
    if path.match("roles/*/meta/argument_specs.yml"):
        return f"collection/{path.parts[-3]}_role.rst"
    return None


def _repository() -> str:
    galaxy = yaml.safe_load((Project(PROJECT).collection / "galaxy.yml").read_text(encoding="utf-8"))
    return str(galaxy["repository"])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
