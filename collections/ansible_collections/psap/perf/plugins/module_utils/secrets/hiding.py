"""Replace values of secrets in a stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import HIDDEN
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import SHORTEST, forms_of


class Hiding:
    """Writes to *target* without the *values*, even if one spans several pieces; `flush` writes the rest."""

    def __init__(self, target: BinaryIO, values: Iterable[str]) -> None:
        """Hide *values*, which are resolved secrets."""
        forms = {form.encode() for value in values if len(value) >= SHORTEST for form, _kind in forms_of(value)}
        # the longest first: a secret may contain another
        self._forms = sorted(forms, key=len, reverse=True)
        self._target = target
        self._rest = b""

    def write(self, piece: bytes) -> int:
        """Write *piece*; its end may be held back."""
        text = self._hide(self._rest + piece)
        held = min(len(text), max((len(form) for form in self._forms), default=1) - 1)
        cut = len(text) - held
        self._target.write(text[:cut])
        self._rest = text[cut:]
        return len(piece)

    def flush(self) -> None:
        """Write the rest after the last piece."""
        self._target.write(self._rest)
        self._rest = b""

    def _hide(self, text: bytes) -> bytes:
        for form in self._forms:
            text = text.replace(form, HIDDEN.encode())
        return text
