"""ModelMesh, described in YAML, on an API server in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

from .memory_api import APPS, MemoryApi, conditions, found, rolled_out, settle, with_kind


def test_modelmesh_runtime_starts_pods_on_first_model(
    tmp_path: Path,
) -> None:
    api, kserve = MemoryApi(), "/apis/serving.kserve.io"
    services = f"{kserve}/v1beta1/namespaces/wisdom/inferenceservices"
    with_kind(api, "servingruntimes.serving.kserve.io/v1alpha1", "inferenceservices.serving.kserve.io/v1beta1")
    for name, several in (("mesh", True), ("unnamed", True), ("alone", False)):
        spec = {"multiModel": several, "replicas": 1, "containers": [{"name": "runtime"}]}
        api.put(f"{kserve}/v1alpha1/namespaces/wisdom/servingruntimes", {"metadata": {"name": name}, "spec": spec})
    for name, runtime, mode in (("a", "mesh", "ModelMesh"), ("b", "alone", "Standard")):
        metadata = {"name": name, "annotations": {"serving.kserve.io/deploymentMode": mode}}
        api.put(services, {"metadata": metadata, "spec": {"predictor": {"model": {"runtime": runtime}}}})

    async def roll_out() -> None:
        assert conditions(api.find(f"{services}/a"))["Ready"] == "False"
        rolled_out(api, "wisdom", "deployments")

    asyncio.run(settle(api, "modelmesh", tmp_path, roll_out))
    deployments = [name for (base, _where, _plural, name) in api.objects if base == "/apis/apps/v1"]
    assert deployments == ["modelmesh-serving-mesh"]
    assert found(api, f"{APPS.format('wisdom', 'deployments')}/modelmesh-serving-mesh")["spec"]["replicas"] == 1
    loaded = found(api, f"{services}/a")
    assert conditions(loaded) == {"PredictorReady": "True", "Ready": "True"}
    assert loaded["status"]["modelStatus"]["states"]["targetModelState"] == "Loaded"
    # KServe's
    assert "status" not in found(api, f"{services}/b")
