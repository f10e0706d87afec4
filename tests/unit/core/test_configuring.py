"""Values set in a YAML text, beside what others say in it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster.configuring import configured

THEIRS = "# of the team of the cluster\nprometheusK8s: {retention: 30d}\nenableUserWorkload: false\n"


def test_what_others_said_stays() -> None:
    text = configured(THEIRS, {"enableUserWorkload": True, "prometheusK8s": {"logLevel": "warn"}}, "config.yaml")
    assert yaml.safe_load(text) == {
        "prometheusK8s": {"retention": "30d", "logLevel": "warn"},
        "enableUserWorkload": True,
    }


@pytest.mark.parametrize(
    "values", [{"enableUserWorkload": False}, {"prometheusK8s": {"retention": "30d"}}, {"nothing": None}]
)
def test_a_text_that_says_it_already_keeps_its_comments(values: dict[str, Any]) -> None:
    assert configured(THEIRS, values, "config.yaml") == THEIRS


def test_null_takes_a_key_away() -> None:
    assert yaml.safe_load(configured(THEIRS, {"prometheusK8s": None}, "config.yaml")) == {"enableUserWorkload": False}


def test_what_is_written_is_as_it_is_to_be_the_next_time() -> None:
    text = configured("", {"prometheus": {"retention": "15d"}}, "config.yaml")
    assert configured(text, {"prometheus": {"retention": "15d"}}, "config.yaml") == text


@pytest.mark.parametrize("text", ["a: [", "- a\n", "just words"])
def test_what_is_broken_is_not_lost(text: str) -> None:
    with pytest.raises(UsageError, match=r"^config\.yaml of ConfigMap c holds "):
        configured(text, {"a": 1}, "config.yaml of ConfigMap c")
