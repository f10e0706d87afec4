"""Models with known names."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.catalogue import ServedModel, catalogue, served_model


def test_user_model_overrides_known_keys_and_adds_models() -> None:
    mine = {"source": "s3://models/mine", "vllm": {"gpus": 2, "cpu": 8, "memory": "40Gi"}}
    known = catalogue({"phi-2": {"vllm": {"gpus": 3}}, "mine": mine})

    assert served_model(known, "mine", "vllm") == ServedModel("s3://models/mine", 2, "8", "40Gi")
    assert served_model(known, "phi-2", "vllm") == ServedModel("hf://microsoft/phi-2", 3, "2", "16Gi")


@pytest.mark.parametrize("runtime", ["vllm", "standalone-tgis"])
def test_every_model_of_the_collection_is_complete(runtime: str) -> None:
    known = catalogue({})
    served = [served_model(known, name, runtime) for name, model in known.items() if runtime in model]
    assert all(model.source.startswith("hf://") and model.cpu and model.memory for model in served)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({}, "unknown model mine for vllm; it serves other; add the model to models"),
        ({"standalone-tgis": {}}, "unknown model mine for vllm"),
        ({"vllm": {"gpus": 1, "cpu": 1, "memory": "1Gi"}}, "needs a source"),
        ({"source": "hf://mine", "vllm": {"gpus": "many", "cpu": 1, "memory": "1Gi"}}, "gpus .a whole number"),
        ({"source": "hf://mine", "vllm": None}, "for vllm gpus"),
    ],
)
def test_invalid_model_is_refused(model: dict[str, Any], message: str) -> None:
    other = {"source": "hf://other", "vllm": {"gpus": 1, "cpu": 1, "memory": "1Gi"}}
    with pytest.raises(UsageError, match=message):
        served_model({"other": other, "mine": model}, "mine", "vllm")
