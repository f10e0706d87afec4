"""Calls of a model by ghz and grpcurl; their options were tested with ghz 0.121.0 and grpcurl 1.9.4."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.grpc.call import INPUTS, grpc_call
from ansible_collections.psap.perf.plugins.module_utils.serving.grpc.ghz import IN_POD

ROLES = Path(__file__).parents[3] / "collections/ansible_collections/psap/perf/roles"
TEMPLATE = ROLES / "shared_wisdom_job/templates/job.yml.j2"


@pytest.fixture(name="arguments")
def _asked(tmp_path: Path) -> dict[str, Any]:
    """Return the arguments of a command whose call two files describe."""
    (tmp_path / "a/v1").mkdir(parents=True)
    (tmp_path / "service.proto").write_text('import "a/v1/messages.proto";')
    (tmp_path / "a/v1/messages.proto").write_text('syntax = "proto3"; // {{ no template }}')
    return {
        "namespace": "wisdom",
        "model_name": "m",
        "host": "",
        "protos_path": str(tmp_path),
        "proto": "service.proto",
        "call": "a.v1.A/B",
        "start_timeout": "10m",
        "job_timeout": "90s",
    }


def test_ghz_sends_requests_in_turn_to_the_model(arguments: dict[str, Any]) -> None:
    data = [{"text": "- name: {{ first }}"}, {"text": "b"}]
    call = grpc_call(arguments, "ghz", ["--total=8"], data, {"replicas": 2})
    assert call.words == (
        *("ghz", "--insecure", "--import-paths=/inputs", "--proto=service.proto", "--call=a.v1.A/B"),
        *('--metadata={"mm-vmodel-id": "m"}', "--data-file=/inputs/data.json", "--disable-template-data"),
        *("--format=json", "--output=/results/ghz.json", '--tags={"model": "m", "replicas": "2"}', "--total=8"),
        "modelmesh-serving.wisdom.svc:8033",
    )
    assert json.loads(call.files[-1].text) == data


def test_grpcurl_calls_once_at_its_address(arguments: dict[str, Any]) -> None:
    call = grpc_call({**arguments, "host": "a:1"}, "grpcurl", ['-d={"text": "a"}'], [], {})
    assert call.words == (
        *("grpcurl", "-plaintext", "-import-path=/inputs", "-proto=service.proto", "-rpc-header=mm-vmodel-id: m"),
        *('-d={"text": "a"}', "a:1", "a.v1.A/B"),
    )
    assert [one.path for one in call.files] == ["a/v1/messages.proto", "service.proto"]


def test_subfolder_files_have_valid_config_map_keys(arguments: dict[str, Any]) -> None:
    call = grpc_call({**arguments, "proto": "a/v1/messages.proto"}, "ghz", [], [], {})
    assert "--proto=a/v1/messages.proto" in call.words
    assert [(one.key, one.path) for one in call.files] == [
        ("proto-0", "a/v1/messages.proto"),
        ("proto-1", "service.proto"),
        ("data.json", "data.json"),
    ]
    assert call.files[0].text == 'syntax = "proto3"; // {{ no template }}'


def test_job_without_a_waiter_has_a_deadline(arguments: dict[str, Any]) -> None:
    """The deadline is both timeouts, and ten minutes to fetch the results."""
    assert grpc_call(arguments, "ghz", [], [], {}).deadline_s == 600 + 90 + 600


def test_files_that_do_not_describe_the_call_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"messages\.proto, which describes the call, does not exist"):
        grpc_call({**arguments, "proto": "messages.proto"}, "ghz", [], [], {})
    (Path(arguments["protos_path"]) / "latin.proto").write_bytes(b"// \xe9")
    with pytest.raises(UsageError, match=r"latin\.proto cannot be read"):
        grpc_call(arguments, "ghz", [], [], {})


def test_job_mounts_files_and_results_at_the_expected_paths() -> None:
    template = TEMPLATE.read_text(encoding="utf-8")
    for name, folder in (("inputs", INPUTS), ("results", str(Path(IN_POD).parent))):
        assert f"{{name: {name}, mountPath: {folder}}}" in template
