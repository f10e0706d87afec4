"""Writes ``docs/coming-from-topsail.md`` from the collection's ``meta/topsail.yml`` and the roles that there are.

Run it after adding a role: ``python docs/generate_topsail.py``. A test says when that was forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from perfdrv.collection import activate

if TYPE_CHECKING:
    from ansible_collections.psap.perf.plugins.module_utils.settings.topsail import Former

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs/coming-from-topsail.md"
NOTE = "<!-- made by docs/generate_topsail.py from meta/topsail.yml of the collection, and from its roles -->"
DONE, TODAY, PLANNED, NEVER = "done", "something else", "planned", "not wanted"


def page() -> str:
    """The text of the page."""
    activate(PROJECT)
    # the collection can be imported once activate() has said where it is
    from ansible_collections.psap.perf.plugins.module_utils.settings.topsail import former_commands

    lines = [*_concepts(), *_commands(list(former_commands().values()))]
    return "\n".join(["# Coming from TOPSAIL", "", NOTE, "", *lines]) + "\n"


def _concepts() -> Iterator[str]:
    from ansible_collections.psap.perf.plugins.module_utils.settings.topsail import concepts

    yield "What a concept or a command of TOPSAIL is called here. `perfdrv toolbox configure apply …` and its like"
    yield "answer the same, and names of TOPSAIL's configuration are answered with today's settings."
    yield from ("", "## Concepts", "", "| TOPSAIL | here | page |", "|---|---|---|")
    for concept in concepts():
        yield f"| {concept.was} | {concept.today} | [{Path(concept.page).stem}]({concept.page}) |"


def _commands(formers: list[Former]) -> Iterator[str]:
    from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project

    roles = Project(PROJECT).roles
    counted = Counter(_state(former, roles) for former in formers)
    yield from ("", "## Commands", "")
    yield (
        f"Of {len(formers)} commands {counted[DONE]} are a command here, {counted[TODAY]} became something else, "
        f"{counted[PLANNED]} are planned, and"
    )
    yield f"{counted[NEVER]} are not wanted."
    yield from ("", "| TOPSAIL | state | here |", "|---|---|---|")
    for former in formers:
        yield f"| `{former.group} {former.command}` | {_state(former, roles)} | {_today(former, roles)} |"


def _state(former: Former, roles: tuple[str, ...]) -> str:
    if former.role is None:
        return NEVER if former.never else TODAY
    return DONE if former.role in roles else PLANNED


def _today(former: Former, roles: tuple[str, ...]) -> str:
    from ansible_collections.psap.perf.plugins.module_utils.base.naming import split_role

    if former.role is None:
        return former.never or former.instead
    if former.role not in roles:
        return ""
    group, command = split_role(former.role)
    words = command.replace("_", "-")
    return f"[{group.replace('_', '-')} {words}](commands/{group}.md#{words})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
