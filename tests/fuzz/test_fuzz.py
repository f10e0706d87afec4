"""1,000 damaged inputs of all kinds, the same every time, yield numbers, findings or a named error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.harness import THOUSAND, answer, fuzz, shares
from tests.fuzz.targets import TARGETS

SEED = 1


@pytest.mark.parametrize(("name", "count"), [pytest.param(*one, id=one[0]) for one in shares(THOUSAND)])
def test_damaged_input_yields_an_answer_or_a_named_error(name: str, count: int) -> None:
    outcome = fuzz(name, count, SEED)
    assert outcome.failures == []
    assert sum(outcome.codes.values()) == count


@pytest.mark.parametrize("name", TARGETS)
def test_undamaged_input_is_valid(name: str, tmp_path: Path) -> None:
    """Check the inputs themselves: else only wrong arguments would be tested."""
    from tests.fuzz.harness import _words

    (tmp_path / "input").mkdir()
    (tmp_path / "scratch").mkdir()
    TARGETS[name].make(tmp_path / "input")
    for command in TARGETS[name].commands:
        code, error = answer(_words(command, tmp_path))
        assert code in (0, 4, 5, 6), error
