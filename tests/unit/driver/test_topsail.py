"""Command lines of TOPSAIL are answered with the current command."""

from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings.topsail import answer, concepts, former_commands
from perfdrv.errors import UsageError

from tests.programs import PROJECT
from tests.unit.driver.conftest import Perfdrv

ROLES = ("cluster_set_scale", "scale_test_submit")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("configure apply --preset light", "configure apply of TOPSAIL: today -p PRESET of perfdrv run"),
        ("configure apply --preset light", "  --preset: -p PRESET"),
        ("configure", "  get: today perfdrv settings explain NAME."),
        ("from_config cluster set_scale --extra={}", "today perfdrv toolbox cluster set-scale;"),
        ("from-config cluster set-scale --extra={}", "  --extra: the options of the command"),
        ("repo validate_no_wip", "not available, GitHub has drafts of pull requests."),
        ("cluster create_osd", "planned, there is no role psap.perf.cluster_create_osd yet."),
        ("scheduler generate_load", "today perfdrv toolbox scale-test submit."),
    ],
)
def test_topsail_command_line_maps_to_the_current_one(line: str, text: str) -> None:
    assert text in str(answer(line.split(), ROLES))


@pytest.mark.parametrize("line", ["nonsense apply", "cluster set_scales", "cluster", "--help"])
def test_unknown_topsail_command_has_no_answer(line: str) -> None:
    assert answer(line.split(), ROLES) is None


def test_topsail_answer_precedes_option_parsing(perfdrv: Perfdrv) -> None:
    failed = perfdrv("toolbox", "configure", "apply", "--preset", "light").exception
    assert isinstance(failed, UsageError)
    assert "today -p PRESET" in str(failed)


def test_topsail_command_maps_to_a_role_or_an_explanation() -> None:
    for former in former_commands().values():
        assert [bool(former.role), bool(former.instead), bool(former.never)].count(True) == 1, former


def test_every_page_of_a_concept_exists() -> None:
    assert [concept.page for concept in concepts() if not (PROJECT / "docs" / concept.page).is_file()] == []
