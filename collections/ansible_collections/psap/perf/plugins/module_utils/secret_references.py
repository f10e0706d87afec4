"""Which secrets a run used: their references, never their values, for the search at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.secrets import parse_reference, resolve

FILE = "secrets.txt"


def remember(run: Path, reference: str) -> None:
    """Note that the run used *reference*."""
    with (run / FILE).open("a", encoding="utf-8") as stream:
        stream.write(f"{reference}\n")


def remembered_values(run: Path, vault: Callable[[str], str | None]) -> Iterator[str]:
    """The values of all secrets that *run* used, as far as they can still be had."""
    path = run / FILE
    if not path.exists():
        return
    for reference in sorted(set(path.read_text(encoding="utf-8").split())):
        try:
            yield resolve(parse_reference(reference), vault=vault)
        except UsageError:
            # gone since: what cannot be read cannot be searched for, and the run already refused to go without it
            continue
