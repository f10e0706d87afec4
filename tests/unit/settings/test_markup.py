"""Ansible's markup, for terminals and pages."""

from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import as_markdown, as_text


@pytest.mark.parametrize(
    ("marked", "text", "page"),
    [
        ("Seconds or V(90s).", "Seconds or 90s.", "Seconds or `90s`."),
        ("Shows C((secret)) for O(secrets).", "Shows (secret) for secrets.", "Shows `(secret)` for `secrets`."),
        ("The role P(psap.perf.command#role).", "The role psap.perf.command.", "The role `psap.perf.command`."),
        ("Not marked: CPU(s), f(x).", "Not marked: CPU(s), f(x).", "Not marked: CPU(s), f(x)."),
    ],
)
def test_marks_become_code_or_nothing(marked: str, text: str, page: str) -> None:
    assert as_text(marked) == text
    assert as_markdown(marked) == page
