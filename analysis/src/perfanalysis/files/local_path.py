"""The type of options that are files and folders of this machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


class LocalPath(click.Path):
    """A path of this machine, as a `Path`; an address is refused, of which a folder would be made otherwise.

    Args:
        instead: what to do with an address.
        limits: as those of `click.Path`, such as `file_okay`.
    """

    def __init__(self, instead: str = "", **limits: Any) -> None:
        super().__init__(path_type=Path, **limits)
        self._instead = f"; {instead}" if instead else ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. An address or a path of another kind ends in a usage error."""
        if _ADDRESS.match(str(value)):
            kind = "folder" if self.dir_okay and not self.file_okay else "file" if not self.dir_okay else "path"
            self.fail(f"{value!r} is an address, where a {kind} of this machine is needed{self._instead}.", param, ctx)
        return super().convert(value, param, ctx)
