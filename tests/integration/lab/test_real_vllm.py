"""vLLM itself (`make vllm`) on a CPU: in a pod of the real node behind KServe, with a model of no trained weights.

The pod gets the environment and the libraries of this machine as volumes: an image of them would have 6 GB.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.byte_tokenizer import tokenizer_files
from perflab.worker import images
from perflab.worker.image_contents import TOOLS, with_system
from perflab.worker.images import Image

from tests.integration.conftest import PROJECT
from tests.integration.conftest import Lab as RunLab
from tests.schemas import check_file

from .labs import Cluster, Labs
from .serving_flows import kpi_values, only_run

pytestmark = pytest.mark.deep
NAME = "realvllm"
SPACE = "psap-perf-kserve"
MODEL = "tiny-llama"
IMAGE = f"localhost/tests/{MODEL}:1"
VLLM = PROJECT / "build/vllm"
PROFILES = "/tmp/profiles"
CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    # 64 for each head: vLLM has no attention for 16 on CPUs
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "vocab_size": 512,
    "max_position_embeddings": 2048,
    "torch_dtype": "float32",
}
SERVE = (
    *(VLLM / "bin/vllm", "serve", "/mnt/models", "--port=8080", f"--served-model-name={MODEL}"),
    # random weights; vLLM may use 40 % of the memory of its container
    *("--load-format=dummy", "--dtype=float32", "--enforce-eager", "--gpu-memory-utilization=0.4"),
    *("--enable-prompt-tokens-details", f"--profiler-config.torch_profiler_dir={PROFILES}"),
    # with the stacks of Python, a profile of 24 requests needs more memory than the container has
    *("--profiler-config.profiler=torch", "--profiler-config.torch_profiler_with_stack=false"),
)
ON_REAL_NODE = {
    "nodeSelector": {"lab.psap.perf/real": "true"},
    "tolerations": [{"key": "lab.psap.perf/real", "operator": "Exists"}],
}


def model_archive(folder: Path) -> Path:
    """Write an image with the configuration and the tokenizer of the model; return its archive."""
    files = dict(tokenizer_files())
    tokenizer = json.loads(files["tokenizer.json"])
    # so that most tokens are text: aiperf counts an answer without any as failed
    for number in range(len(tokenizer["model"]["vocab"]), CONFIG["vocab_size"]):
        tokenizer["model"]["vocab"][f"w{number}"] = number
    files["tokenizer.json"] = json.dumps(tokenizer)
    texts = {f"/models/{name}": text for name, text in files.items()}
    texts["/models/config.json"] = json.dumps(CONFIG)
    # KServe mounts /models by a link that the image's own programs create
    return images.ensure(folder, with_system(Image(IMAGE, texts=texts), tools=(*TOOLS, "ln")))


def runtime() -> dict[str, Any]:
    """Return the patch of the ServingRuntime: vLLM of this machine."""
    base = subprocess.run(
        [VLLM / "bin/python", "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True, check=True
    ).stdout.strip()
    mounted = {"vllm": str(VLLM), "python": base, "usr": "/usr", "lib": "/lib/x86_64-linux-gnu", "loader": "/lib64"}
    words = " ".join(f"'{word}'" for word in SERVE)
    container = {
        "name": "kserve-container",
        "image": "localhost/perflab/python:3",
        # KServe mounts a model that is an image only after this container has started
        "command": ["sh", "-c", f"until test -e /mnt/models/config.json; do sleep 0.2; done; exec {words}"],
        "env": [
            {"name": name, "value": value}
            for name, value in {"HOME": "/tmp", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}.items()
        ],
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8080}, "periodSeconds": 1},
        "volumeMounts": [
            *({"name": name, "mountPath": path, "readOnly": True} for name, path in mounted.items()),
            # vLLM's processes share 160 MiB, and containers have 64
            {"name": "shared", "mountPath": "/dev/shm"},
        ],
    }
    volumes: list[dict[str, Any]] = [{"name": name, "hostPath": {"path": path}} for name, path in mounted.items()]
    volumes.append({"name": "shared", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}})
    return {"spec": {"containers": [container], "volumes": volumes}}


SETTINGS: dict[str, Any] = {
    "kserve_models": {MODEL: {"source": f"oci://{IMAGE}", "vllm": {"gpus": 0, "cpu": "500m", "memory": "6Gi"}}},
    "kserve_model_name": MODEL,
    "kserve_runtime": "vllm",
    "kserve_image": "localhost/perflab/python:3",
    "kserve_duration": 0,
    "kserve_requests": 12,
    "kserve_max_output_tokens": 8,
    "kserve_concurrency": [1, 4],
    "kserve_timeout": "15m",
}


@pytest.fixture(scope="module", name="real")
def _real(labs: Labs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunLab]:
    """A lab with KServe and a real node that has the images of the model and of aiperf."""
    lab = labs.up(NAME, "--nodes", "2", "--with", "kserve", "--with", "worker")
    archive = model_archive(tmp_path_factory.mktemp("model"))
    loaded = labs.run("image", "load", "--name", NAME, "aiperf", str(archive))
    assert loaded.returncode == 0, loaded.stderr
    yield RunLab(NAME, lab.kubeconfig)
    labs.run("down", "--name", NAME)


def growth(folder: Path, *names: str) -> list[float]:
    """Return how much counters of the server grew during the load in a folder."""
    (path,) = folder.rglob("model_metrics.json")
    check_file(path)
    found = dict.fromkeys(names, 0.0)
    for scrape in json.loads(path.read_text())["scrapes"]:
        for sample in scrape["samples"]:
            if sample["metric"] in found:
                found[sample["metric"]] += sample["value"] * (1 if scrape["moment"] == "after" else -1)
    return list(found.values())


def test_vllm_is_served_loaded_from_a_pod_profiled_and_removed(labs: Labs, real: RunLab, tmp_path: Path) -> None:
    patch = {"ServingRuntime": runtime(), "InferenceService": {"spec": {"predictor": ON_REAL_NODE}}}
    settings = {
        **SETTINGS,
        "kserve_patch": patch,
        "kserve_profile_server": True,
        "perf_kubeconfig": str(real.kubeconfig),
    }
    ran = real.run(tmp_path, "perfdrv", "run", "kserve", "-p", "kserve_real_aiperf", "-e", json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    run = only_run(tmp_path)
    found = kpi_values(run, "load")
    for load in ("1 user", "4 users"):
        assert found["requests_failed", load] == 0
        # the server and the client count the same tokens
        assert found["server_output_tokens", load] == 12 * 8
    for metrics in run.rglob("model_metrics.json"):
        folder = metrics.parent
        users = json.loads((folder / "aiperf.json").read_text())["load"]["concurrency"]
        seconds, count = growth(folder, *(f"vllm:time_to_first_token_seconds_{each}" for each in ("sum", "count")))
        # the time of the server is a part of that of the client
        load = "1 user" if users == 1 else f"{users} users"
        assert count == 12
        assert 0 < seconds / count < found["ttft_mean", load]
    cluster = Cluster.of(labs.get(NAME))
    assert not cluster.core.list_namespaced_pod(SPACE).items


def test_vllms_own_benchmark_and_caches(labs: Labs, real: RunLab, tmp_path: Path) -> None:
    """Requests with one prefix: the cached tokens by the server's counters."""
    space = "bench"
    environment = {**real.environment(tmp_path), "KUBECONFIG": str(real.kubeconfig)}

    def toolbox(*words: str) -> None:
        ran = real.run_with(environment, "perfdrv", "toolbox", *words)
        assert ran.returncode == 0, ran.stdout + ran.stderr

    patch = {"ServingRuntime": runtime(), "InferenceService": {"spec": {"predictor": ON_REAL_NODE}}}
    deploy = ("kserve", "deploy-model", "--namespace", space, "--runtime", "vllm", "--raw-deployment")
    model = ("--model-name", MODEL, "--models", json.dumps(SETTINGS["kserve_models"]), "--timeout", "15m")
    names = ("--sr-name", MODEL, "--inference-service-name", MODEL, "--sr-kserve-image", "localhost/perflab/python:3")
    toolbox(*deploy, *model, *names, "--patch", json.dumps(patch))
    (service,) = (
        each
        for each in Cluster.of(labs.get(NAME)).core.list_namespaced_service(space).items
        if each.metadata.name == f"{MODEL}-predictor"
    )
    pods = Cluster.of(labs.get(NAME)).core.list_namespaced_pod(space).items
    url = f"http://{pods[0].status.pod_ip}:8080"
    assert service.spec.ports
    load = ("--endpoint-url", url, "--model", MODEL, "--concurrency", "2", "--requests", "20", "--output-tokens", "8")
    prefix = ("--input-tokens", "32", "--prefix-tokens", "512")
    metrics = ("--scraped-model", MODEL, "--scraped-namespace", space)
    program = ("--generator", "vllm-bench", "--program", str(VLLM / "bin/vllm"))
    toolbox("serving", "run-load", *load, *prefix, *metrics, *program)
    (results,) = tmp_path.rglob("results/benchmark.json")
    document = json.loads(results.read_text())
    assert (document["completed"], document["total_output_tokens"]) == (20, 160)
    hits, prompts, answered = growth(
        results.parents[1], "vllm:prefix_cache_hits_total", "vllm:prompt_tokens_total", "vllm:generation_tokens_total"
    )
    assert answered == 20 * 8
    # blocks of 16 tokens; the requests of the first moment find no block yet
    assert 512 * 17 <= hits < prompts
    Cluster.of(labs.get(NAME)).core.delete_namespace(space)
