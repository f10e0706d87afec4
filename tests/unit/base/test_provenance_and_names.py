from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.naming import command_directory_name, path_part, split_role
from ansible_collections.psap.perf.plugins.module_utils.base.provenance import command_line


def test_command_line_is_recorded_without_extra_vars_values() -> None:
    words = [
        "ansible-playbook",
        "x.yml",
        "-e",
        "token=abc",
        "-e",
        "@presets/lab.yml",
        "--extra-vars={'a': 'abc'}",
        "-eb=abc",
        "-s",
        "b=abc",
        "-sb=abc",
        "--set=b=abc",
        "--skip-tags=conclude",
    ]
    kept = command_line(words)
    assert "abc" not in " ".join(kept)
    assert kept[-5:] == ["-s", "b=…", "-sb=…", "--set=b=…", "--skip-tags=conclude"]
    assert kept[:6] == ["ansible-playbook", "x.yml", "-e", "token=…", "-e", "@presets/lab.yml"]


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("nfd_has_labels", ("nfd", "has_labels")),
        ("psap.perf.nfd_operator_deploy_from_operatorhub", ("nfd_operator", "deploy_from_operatorhub")),
        ("gpu_operator_wait_deployment", ("gpu_operator", "wait_deployment")),
        ("scale_test_submit", ("scale_test", "submit")),
        ("mine_do_it", ("mine", "do_it")),
        ("command", ("command", "command")),
    ],
)
def test_role_name_splits_into_group_and_command(role: str, expected: tuple[str, str]) -> None:
    assert split_role(role) == expected
    assert command_directory_name(role) == "__".join(expected)


def test_directory_names_are_safe() -> None:
    assert path_part("a/b: c..d") == "a_b_c..d"
    assert path_part("///") == "_"
