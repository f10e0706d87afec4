"""A user who may do what a flow says that it needs can run it; one who may do less is told all that is lacking."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import Lab
from tests.integration.rights import run_with_what_is_told


@pytest.mark.parametrize("flow", [pytest.param("scale_test", marks=pytest.mark.deep), "fine_tuning"])
def test_who_has_the_rights_that_are_told_at_once_can_run_the_flow(shared_lab: Lab, tmp_path: Path, flow: str) -> None:
    assert len(run_with_what_is_told(shared_lab, tmp_path, flow)) > 5
