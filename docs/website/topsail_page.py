"""The page for users of TOPSAIL, made from the collection's ``meta/topsail.yml`` and its roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.naming import split_role
from ansible_collections.psap.perf.plugins.module_utils.settings.topsail import FormerCommand, concepts, former_commands

from docs.website.commands import words

DONE, TODAY, PLANNED, NEVER = "done", "something else", "planned", "not wanted"


def topsail_page(roles: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the page; *roles* are the roles of the collection."""
    yield from ("# Coming from TOPSAIL", "")
    yield "This page lists the concepts and commands of TOPSAIL with their names in psap.perf. `perfdrv toolbox` prints"
    yield "the same answers: try `perfdrv toolbox configure apply`. A setting named as in TOPSAIL's configuration is"
    yield "refused with its present name."
    yield from ("", "## Concepts", "", "| TOPSAIL | psap.perf | page |", "|---|---|---|")
    for concept in concepts():
        yield f"| {concept.was} | {concept.today} | [{Path(concept.page).stem}]({concept.page}) |"
    formers = list(former_commands().values())
    counted = Counter(_state(former, roles) for former in formers)
    yield from ("", "## Commands", "")
    yield f"TOPSAIL has {len(formers)} commands. {counted[DONE]} are commands of psap.perf, {counted[TODAY]} have"
    yield f"another replacement, {counted[PLANNED]} are planned, and {counted[NEVER]} are not wanted."
    yield from ("", "| TOPSAIL | state | psap.perf |", "|---|---|---|")
    for former in formers:
        yield f"| `{former.group} {former.command}` | {_state(former, roles)} | {_today(former, roles)} |"


def _state(former: FormerCommand, roles: Sequence[str]) -> str:
    if former.role is None:
        return NEVER if former.never else TODAY
    return DONE if former.role in roles else PLANNED


def _today(former: FormerCommand, roles: Sequence[str]) -> str:
    if former.role is None:
        return former.never or former.instead
    if former.role not in roles:
        return ""
    return f"[{' '.join(map(words, split_role(former.role)))}](collection/{former.role}_role.rst)"
