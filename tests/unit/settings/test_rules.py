"""Rules over several settings see every cell of the matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where
from ansible_collections.psap.perf.plugins.module_utils.settings.rules import broken_rules, holds, names_in_expression
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Rule, read_flow


@pytest.fixture
def options(tmp_path: Path) -> Any:
    path = tmp_path / "tune" / "settings.yml"
    path.parent.mkdir()
    path.write_text(
        "options:\n  tune_gpus: {type: int, dimension: true, description: x}\n"
        "  tune_tree: {type: dict, dimension: [r], description: x}\n  tune_pods: {type: int, description: x}\n"
    )
    return read_flow(path, tmp_path).settings


def rule(test: str) -> Rule:
    return Rule(test, "too many", Where("rules", 1))


@pytest.mark.parametrize(
    ("test", "values", "messages"),
    [
        ("tune_gpus * tune_pods <= 8", {"tune_gpus": 4, "tune_pods": 2}, []),
        (
            "tune_gpus * tune_pods <= 8",
            {"tune_gpus": [1, 8], "tune_pods": 2},
            ["too many (tune_gpus is 8, tune_pods is 2)"],
        ),
        ("tune_tree.r < 4", {"tune_tree": {"r": [1, 4]}}, ["too many (tune_tree is {'r': 4})"]),
        ("tune_pods < 4", {"tune_pods": "{{ later }}"}, []),
        ("tune_pods < 4", {"tune_pods": None}, []),
        ("tune_pods < 4", {}, []),
    ],
)
def test_rule_is_evaluated_for_each_cell(options: Any, test: str, values: dict[str, Any], messages: list[str]) -> None:
    assert [message for _rule, message in broken_rules([rule(test)], options, values)] == messages


def test_expressions_list_their_variables_and_are_sandboxed() -> None:
    assert names_in_expression("a > 1 and b in [c]") == {"a", "b", "c"}
    assert holds("a + 1 == 2", {"a": 1})
    with pytest.raises(UsageError, match="invalid Jinja expression"):
        names_in_expression("a >")
    with pytest.raises(UsageError, match="cannot evaluate"):
        holds("a > 'x'", {"a": 1})
    with pytest.raises(UsageError, match="cannot evaluate"):
        holds("a.__class__.__mro__", {"a": 1})
