"""The type of options for files and folders of this machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


class LocalPath(click.Path):
    """A local path, as a `Path`; an address is refused, since it would otherwise become a folder.

    Args:
        instead: What to do with an address.
        limits: As those of `click.Path`, such as `file_okay`.
    """

    def __init__(self, instead: str = "", **limits: Any) -> None:
        super().__init__(path_type=Path, **limits)
        self._instead = f"; {instead}" if instead else ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. An address or a path of another kind causes a usage error."""
        if _ADDRESS.match(str(value)):
            kind = "folder" if self.dir_okay and not self.file_okay else "file" if not self.dir_okay else "path"
            self.fail(f"{value!r} is an address; pass a {kind} of this machine{self._instead}.", param, ctx)
        return super().convert(value, param, ctx)
