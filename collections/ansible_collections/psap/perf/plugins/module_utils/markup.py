"""Ansible's markup in descriptions, ``V(5m)`` and ``C(artifacts/)``, as plain text or Markdown."""

from __future__ import annotations

import re

_MARKED = re.compile(r"\b[VCOPEIB]\(((?:[^()]|\([^()]*\))*)\)")


def as_text(description: str) -> str:
    """*description* for a terminal: what was marked, without the marks."""
    return _MARKED.sub(lambda match: match[1].partition("#")[0], description)


def as_markdown(description: str) -> str:
    """*description* for a page: what was marked, as code."""
    return _MARKED.sub(lambda match: f"`{match[1].partition('#')[0]}`", description)
