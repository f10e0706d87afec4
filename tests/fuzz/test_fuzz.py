"""1,000 damaged inputs of all kinds, the same every time: the answer is numbers, findings or a named error."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.harness import THOUSAND, answer, fuzz, shares
from tests.fuzz.mutations import BYTES, STRUCTURED, TREES
from tests.fuzz.targets import TARGETS

SEED = 1


@pytest.mark.parametrize(("name", "count"), [pytest.param(*one, id=one[0]) for one in shares(THOUSAND)])
def test_damaged_inputs_are_answered_by_name(name: str, count: int) -> None:
    outcome = fuzz(name, count, SEED)
    assert outcome.failures == []
    assert sum(outcome.codes.values()) == count


@pytest.mark.parametrize("name", TARGETS)
def test_the_input_is_whole_before_it_is_damaged(name: str, tmp_path: Path) -> None:
    """Else nothing would be tested but how a wrong argument is told."""
    from tests.fuzz.harness import _words

    (tmp_path / "input").mkdir()
    (tmp_path / "scratch").mkdir()
    TARGETS[name].make(tmp_path / "input")
    for command in TARGETS[name].commands:
        code, error = answer(_words(command, tmp_path))
        assert code in (0, 4, 5, 6), error


@pytest.mark.parametrize("change", sorted({**BYTES, **TREES, **STRUCTURED}))
def test_every_damage_can_be_done(change: str, tmp_path: Path) -> None:
    done = {**BYTES, **TREES, **STRUCTURED}[change]
    for number in range(20):
        path = tmp_path / f"folder {number}" / "x.json"
        path.parent.mkdir()
        path.write_text('{"a": [1, {"b": "text"}, null], "c": 2.5}')
        assert isinstance(done(path, random.Random(number)), str)
