"""A model in a PersistentVolumeClaim: the name of its folder, and the changed manifest."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.psap.perf.plugins.filter.llm_inference_service import FilterModule
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.claims import in_claim


@pytest.mark.parametrize(
    ("source", "folder"),
    [
        ("hf://facebook/opt-125m", "facebook/opt-125m"),
        ("hf://facebook/opt-125m:main", "facebook/opt-125m-main"),
        ("s3://bucket/models/opt 125m/", "bucket/models/opt-125m"),
    ],
)
def test_folder_is_named_by_the_source(source: str, folder: str) -> None:
    assert in_claim(source, "models") == f"pvc://models/{folder}"


@pytest.mark.parametrize("uri", ["", "oci://quay.io/models/opt:1", "pvc://other/opt", "hf:///"])
def test_undownloadable_folder_is_refused(uri: str) -> None:
    with pytest.raises(UsageError, match="cannot be downloaded to PersistentVolumeClaim models; pass"):
        in_claim(uri, "models")


def apply_filter(manifest: dict[str, Any], **options: str) -> Any:
    return FilterModule().filters()["llm_inference_service"](manifest, **options)


def test_manifest_reads_the_claim_and_keeps_the_rest() -> None:
    given = {"spec": {"model": {"uri": "hf://a/b", "name": "b"}, "replicas": 2}}
    assert apply_filter(given, flavor="simple-x3", model_claim="models")["spec"] == {
        "model": {"uri": "pvc://models/a/b", "name": "b"},
        "replicas": 3,
        "router": {"route": {}, "gateway": {}},
    }
    assert apply_filter(given, model_uri="hf://c/d", model_claim="models")["spec"]["model"]["uri"] == "pvc://models/c/d"
    assert apply_filter(given)["spec"]["model"]["uri"] == "hf://a/b"


def test_manifest_without_a_source_uses_no_claim() -> None:
    with pytest.raises(AnsibleFilterError, match="cannot be downloaded"):
        apply_filter({"kind": "LLMInferenceService"}, model_claim="models")
