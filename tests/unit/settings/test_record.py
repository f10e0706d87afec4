"""settings.yml follows its schema and can be read again."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_yaml
from ansible_collections.psap.perf.plugins.module_utils.settings.record import (
    RecordedValue,
    connection,
    settings_document,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.static import (
    Difference,
    connection_of_run,
    diff,
    values_of_run,
)

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/schema/settings-1.json").read_text())

EVERYONE = {
    "tiny_count": RecordedValue([1, 2], "presets/a.yml:2"),
    "tiny_token": RecordedValue("env:TOKEN", "command line", secret=True),
    "tiny_none": RecordedValue(None, "default (playbooks/tiny/settings.yml)"),
}


def test_host_records_only_differing_values() -> None:
    hosts = {"b": {**EVERYONE, "tiny_count": RecordedValue(3, "host_vars/b.yml:1")}, "a": dict(EVERYONE)}

    document = settings_document(EVERYONE, hosts)

    jsonschema.validate(document, SCHEMA)
    assert list(document["all"]) == ["tiny_count", "tiny_none", "tiny_token"]
    assert document["hosts"] == {"b": {"tiny_count": {"value": 3, "origin": "host_vars/b.yml:1"}}}


def test_connection_of_a_host_is_recorded_without_passwords(tmp_path: Path) -> None:
    extra = {
        "ansible_port": 2222,
        "ansible_password": "hunter2",
        "ansible_ssh_common_args": "-o ProxyJump=perf@bastion.example.com",
        "perf_kube_proxy": "http://ada:hunter2@proxy.example.com",
        "tiny_count": 3,
    }
    document = settings_document(EVERYONE, {}, connection(extra))
    jsonschema.validate(document, SCHEMA)
    write_yaml(tmp_path / "settings.yml", document)
    kept = {name: extra[name] for name in ("ansible_port", "ansible_ssh_common_args")}
    assert connection_of_run(tmp_path) == kept


@pytest.mark.parametrize(
    "entry",
    [{"value": 1}, {"value": 1, "origin": ""}, {"value": "hunter2", "origin": "x", "secret": True}],
    ids=["no-origin", "empty-origin", "literal-secret"],
)
def test_schema_refuses_invalid_records(entry: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema": "psap.perf/settings/1", "all": {"a": entry}, "hosts": {}}, SCHEMA)


def test_schema_allows_keys_of_later_versions() -> None:
    entry = {"value": 1, "origin": "x", "later": True}

    jsonschema.validate({"schema": "psap.perf/settings/1", "all": {"a": entry}, "hosts": {}, "more": 1}, SCHEMA)


def test_values_of_runs_are_compared(tmp_path: Path) -> None:
    write_yaml(tmp_path / "settings.yml", settings_document(EVERYONE, {}))

    values = values_of_run(tmp_path)

    assert values["tiny_count"] == [1, 2]
    assert diff(values, {**values, "tiny_count": 1, "tiny_new": 2}) == (
        Difference("tiny_count", [1, 2], 1),
        Difference("tiny_new", None, 2),
    )
