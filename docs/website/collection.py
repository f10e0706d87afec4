"""Pages of the collection's commands and plugins, which antsibull-docs makes, fitted into the site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

NAME = "psap.perf"
_TITLE = re.compile(rf"{re.escape(NAME)}\.(?P<name>\S+) (?P<kind>\w+)(?: plugin)? -- (?P<words>.+)")
# antsibull-docs begins each part of a page with a comment that names it
_PART = re.compile(r"^\.\.\s+(?![_|])(?!.*::)(.+)$")
_LABEL = re.compile(r"^\.\. _ansible_collections\S+:$", re.MULTILINE)
# how to install the collection, its authors and its repository are the same on all pages; the theme has the contents
_LEFT_OUT = ("Collection note", "version_added", "Entry point title", "Authors", "Extra links", "Parsing errors")
_NOTE_ON_ACTION = re.compile(
    r"^\.\. note::\n    This \w+ has a corresponding :ref:`action plugin[^\n]*\n", re.MULTILINE
)


@dataclass(frozen=True)
class Documented:
    """A role or a plugin that has a page: `name` without the collection, the first sentence, the page's file."""

    name: str
    kind: str
    words: str
    file: str


Usage = Callable[[str], tuple[str, str] | None]
"""From a role's name to its words on the command line and an example of a call; None for a shared role."""


class CollectionError(Exception):
    """antsibull-docs failed; the message is what it said."""

    exit_code = 1


def write_pages(project: Path, folder: Path, usage: Usage) -> tuple[Documented, ...]:
    """Write a page of reStructuredText for each role and plugin to *folder*.

    Raises:
        CollectionError: a specification cannot be documented, or a page is not as this module knows them.
    """
    command = (str(Path(sys.executable).with_name("antsibull-docs")), "collection", "--use-current", "--fail-on-error")
    options = ("--squash-hierarchy", "--no-breadcrumbs", "--no-add-antsibull-docs-version", "--dest-dir", str(folder))
    paths = {
        "ANSIBLE_COLLECTIONS_PATH": str(project / "collections"),
        # it calls ansible-doc and ansible-galaxy by name
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    folder.mkdir(parents=True)
    done = subprocess.run(  # noqa: S603 - the program beside our own Python
        [*command, *options, NAME],
        cwd=project,
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CollectionError(f"antsibull-docs ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    for index in ("index.rst", "environment_variables.rst"):
        (folder / index).unlink(missing_ok=True)
    return tuple(_fitted(path, usage) for path in sorted(folder.glob("*.rst")))


def _fitted(path: Path, usage: Usage) -> Documented:
    parts = list(_parts(path.read_text(encoding="utf-8")))
    found = next((_TITLE.search(part) for name, part in parts if name == "Title"), None)
    if found is None:
        raise CollectionError(f"{path.name}: the page that antsibull-docs made has no title of the known form")
    one = Documented(found["name"], found["kind"], found["words"].replace("\\", ""), path.name)
    if one.kind == "role":
        top = _titled(*_command_top(usage(one.name), one.name, found["words"]))
    else:
        top = _titled(f"{NAME}.{one.name} \u2013 {found['words']}", _PLUGIN[one.kind])
    text = "\n".join(top if name == "Title" else _kept(name, part) for name, part in parts)
    path.write_text(_NOTE_ON_ACTION.sub("", text), encoding="utf-8")
    return one


def _command_top(usage: tuple[str, str] | None, role: str, purpose: str) -> tuple[str, str]:
    if usage is None:
        return f"{NAME}.{role} \u2013 {purpose}", _SHARED
    words, example = usage
    return f"{words} \u2013 {purpose}", _USAGE.format(example=example, role=role)


_SHARED = """\
On the command line a parameter is an option of each of these commands, without the role's name."""
_USAGE = """\
.. code-block:: console

   $ {example}

In a playbook it is the role ``psap.perf.{role}`` with the parameters below; on the command line a parameter is an
option, without the role's name."""
_PLUGIN = {
    "module": "A verb, which roles are composed of.",
    "filter": "A filter, which computes only.",
    "lookup": "A lookup plugin.",
    "callback": "A callback plugin.",
    "vars": "A vars plugin.",
}


def _titled(title: str, text: str) -> str:
    return f"{title}\n{'+' * len(title)}\n\n{text}\n"


def _parts(text: str) -> Iterator[tuple[str, str]]:
    name, lines = "", list[str]()
    for line in text.splitlines():
        if found := _PART.match(line):
            yield name, "\n".join(lines)
            name, lines = found[1], []
        else:
            lines.append(line)
    yield name, "\n".join(lines)


def _kept(name: str, part: str) -> str:
    # a label in a part that is left out is what other pages refer to
    return "\n".join(f"{label}\n" for label in _LABEL.findall(part)) if name in _LEFT_OUT else f"{part}\n"
