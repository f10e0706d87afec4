"""What make test-changed picks."""

from __future__ import annotations

import pytest

from tests.changed import PROJECT, linted, pick, wanted_for

ROLES = "collections/ansible_collections/psap/perf/roles"


@pytest.mark.parametrize(
    ("path", "picked"),
    [
        (f"{ROLES}/nfd_operator_deploy_from_operatorhub/tasks/main.yml", "molecule/nfd_operator"),
        (f"{ROLES}/nfd_has_labels/tasks/main.yml", "molecule/nfd"),
        ("tests/unit/driver/test_runs.py", "unit/driver/test_runs.py"),
        ("tests/unit/driver/conftest.py", "unit/driver"),
        ("analysis/src/perfanalysis/units.py", "unit/analysis"),
        ("something_new/at_the_root.py", "unit"),
    ],
)
def test_a_file_is_tested_by_what_is_about_it(path: str, picked: str) -> None:
    assert picked in pick([path]).labelled()


def test_a_test_that_stands_in_a_picked_folder_is_not_run_twice() -> None:
    assert pick(["driver/src/perfdrv/cli.py", "tests/unit/driver/test_runs.py"]).tests == {
        "unit/driver",
        "unit/perfci",
        "integration/driver",
    }


def test_ansible_lint_looks_at_changed_files_of_ansible_that_are_there() -> None:
    playbook, role = "playbooks/kserve/load.yml", f"{ROLES}/nfd_has_labels/tasks/main.yml"
    others = ["lab/src/perflab/emulators/operators/nfd/product.yaml", "docs/lab.md", "playbooks/gone.yml"]
    assert linted([role, playbook, *others]) == [role, playbook]


def test_a_command_of_every_group_has_a_scenario() -> None:
    """A group that the table lacks would run no scenario when its commands change."""
    found = [path.name for path in (PROJECT / ROLES).iterdir() if path.is_dir() and path.name != "command"]
    assert [
        name for name in found if not any("molecule/" in one for one in wanted_for(f"{ROLES}/{name}/tasks/x.yml"))
    ] == []
