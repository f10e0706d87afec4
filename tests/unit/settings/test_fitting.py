"""Presets that fit a flow, and presets that its runs refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings.files import COMMAND_LINE
from ansible_collections.psap.perf.plugins.module_utils.settings.fitting import presets_of, unfit_preset
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.static import resolve_presets

REPOSITORY = Project(Path(__file__).parents[3])
FILES = {
    "playbooks/tune/settings.yml": "options:\n  tune_gpus: {type: int, default: 1, description: GPUs.}\n",
    "playbooks/load/settings.yml": "options:\n  load_users: {type: int, default: 1, description: Users.}\n",
    "playbooks/shared/settings.yml": """
options:
  nodes_count: {type: int, default: 3, description: Nodes.}
  matrix_experiments: {type: list, elements: dict, default: [], description: Dimensions.}
""",
    "presets/own.yml": "preset_own: {load_users: 4}\n",
    "presets/foreign.yml": "preset_foreign: {tune_gpus: 4}\n",
    "presets/child.yml": "preset_child: {extends: foreign}\n",
    "presets/shared.yml": "preset_shared: {nodes_count: 3}\n",
    "presets/mixed.yml": "preset_mixed: {tune_gpus: 4, nodes_count: 5}\n",
    "presets/repeating.yml": "preset_repeating: {tune_gpus: 4, nodes_count: 3}\n",
    "presets/dimensions.yml": "preset_dimensions: {tune_gpus: 4, matrix_experiments: [{tune_gpus: [1, 2]}]}\n",
    "presets/host.yml": "preset_host: {tune_gpus: 4, ansible_user: jane}\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Project(tmp_path)


def refusal(project: Project, flow: str, preset: str) -> str:
    """Return the message for *preset* given to *flow*; empty if it is accepted."""
    assignments = resolve_presets(project, [(preset, COMMAND_LINE)])
    return str(unfit_preset(project, flow, preset, COMMAND_LINE, assignments) or "")


@pytest.mark.parametrize("preset", ["own", "shared", "mixed", "host"])
def test_preset_that_changes_something_is_accepted(project: Project, preset: str) -> None:
    assert refusal(project, "load", preset) == ""


@pytest.mark.parametrize("preset", ["foreign", "child", "repeating", "dimensions"])
def test_preset_that_changes_nothing_is_refused(project: Project, preset: str) -> None:
    assert refusal(project, "tune", preset) == ""
    assert refusal(project, "load", preset) == (
        f"command line: the preset {preset} does not change load, only tune; "
        "perfdrv settings presets load lists the presets that fit"
    )


def test_presets_of_a_flow_are_its_own_and_those_for_all_flows(project: Project) -> None:
    assert presets_of(project, "load") == ("own", "shared")
    assert presets_of(project, "tune") == ("child", "dimensions", "foreign", "host", "mixed", "repeating", "shared")


def test_presets_of_the_repository_by_flow() -> None:
    scale, tuning = presets_of(REPOSITORY, "scale_test"), presets_of(REPOSITORY, "fine_tuning")

    assert {"scale_test_smoke", "lab", "clusters_metal"} <= set(scale)
    assert {"fine_tuning_light", "lab", "clusters_metal"} <= set(tuning)
    assert "fine_tuning_light" not in scale
    assert "fine_tuning" in refusal(REPOSITORY, "scale_test", "fine_tuning_light")
    # It sets nothing itself, and extends presets that do.
    assert "fine_tuning_dgx_single_full" in tuning
