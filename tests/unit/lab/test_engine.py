"""The engine of emulated products: the contents of a `product.yaml`, and the message for each mistake."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from perflab.cluster.api import Api
from perflab.emulators.engine.functions import contains, exactly, ready
from perflab.emulators.engine.product import ProductError, load
from perflab.emulators.engine.running import controllers_of
from perflab.emulators.engine.targets import Targets
from perflab.emulators.engine.templates import Compiler, Scope
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.steps import Declarations
from perflab.emulators.framework.stores import Stores

from .memory_api import MemoryApi, rolled_out, run_operator, settle_with, with_kind

BEGIN = """about: a product
steps: {start: from its creation to its pods}
rules:
  - for: example.com/v1/Model
"""


def run(path: Path) -> None:
    async def compiled() -> None:
        stores = Stores(cast(Api, MemoryApi()))
        file = load(path)
        controllers_of(Cluster(stores, "test", Declarations(file.product.steps)), file, Targets(path.parent))

    asyncio.run(compiled())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"product\.yaml:1: the file is empty"),
        ("about: [", r"product\.yaml:\d: "),
        ("about: x\nrule: []", r"product\.yaml:1: Object contains unknown field `rule`"),
        (BEGIN + "    whne: x\n", r"product\.yaml:4: Object contains unknown field `whne`"),
        (BEGIN + "    name: 1\n", r"product\.yaml:5: Expected `str`, got `int`"),
        (BEGIN + "    children:\n      - wait: x\n", r"product\.yaml:6: Object missing required field `object`"),
        (
            BEGIN + "    children:\n      - object: {kind: Pod}\n",
            r"product\.yaml:6: the object has no apiVersion, metadata",
        ),
        (BEGIN + "    when: object.spec.\n", r"product\.yaml:5: expected name or number"),
        (BEGIN + "    when: objct.spec\n", r"product\.yaml:5: unknown: objct"),
        (BEGIN + "    status:\n      phase: '{{ item.name }}'\n", r"product\.yaml:6: unknown: item"),
        (
            BEGIN + "    status:\n      phase: '{{ name | nothing }}'\n",
            r"product\.yaml:6: unknown: filter nothing",
        ),
        (BEGIN + "    steps: {begin: {}}\n", r"product\.yaml:5: the product declares no step 'begin'"),
    ],
)
def test_mistake_is_reported_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "product.yaml"
    path.write_text(text)
    with pytest.raises(ProductError, match=message):
        run(path)


def evaluate(value: Any, tmp_path: Path, **names: Any) -> Any:
    path = tmp_path / "product.yaml"
    path.write_text(BEGIN)
    return Compiler(load(path), {}).value(value, (), names)(Scope(names, {}))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{{ number }}", 8),
        (" {{ {'a': {'b': number} } }} ", {"a": {"b": 8}}),
        ("{{ {'a': {}} }}", {"a": {}}),
        ("{{ number }} of {{ number }}", "8 of 8"),
        ({"a": "{{ thing.items }}", "b": "{{ thing.absent.too }}", "c": "{{ none }}"}, {"a": [1], "c": None}),
        (["{{ omit }}", "{{ thing['items'] }}", 3], [[1], 3]),
        ("{% for each in thing.items %}{{ each }};{% endfor %}", "1;"),
    ],
)
def test_expression_yields_its_value(value: Any, expected: Any, tmp_path: Path) -> None:
    assert evaluate(value, tmp_path, number=8, thing={"items": [1]}) == expected


def test_late_failure_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ProductError, match=r"product\.yaml:1: .*division by zero"):
        evaluate("{{ 1 / number }}", tmp_path, number=0)


@pytest.mark.parametrize(
    ("present", "wanted", "same"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        (None, {"a": []}, True),
        ({"a": [{"name": "x", "pull": "Always"}]}, {"a": [{"name": "x"}]}, True),
        ({"a": [1, 2]}, {"a": [1]}, False),
        ({"a": [1]}, {"a": []}, False),
        ({"a": 1}, {"a": None}, False),
        ({}, {"a": None}, True),
    ],
)
def test_effect_of_a_merge_is_known(present: Any, wanted: Any, same: bool) -> None:
    assert contains(present, wanted) is same


def test_only_prefixed_keys_are_removed() -> None:
    present = {"nvidia.com/a": "1", "nvidia.com/b": "1", "nvidia.com/kept": "1", "zone": "z"}
    change = exactly({"nvidia.com/b": "2"}, present, "nvidia.com/", ["nvidia.com/kept"])
    assert change == {"nvidia.com/a": None, "nvidia.com/b": "2"}


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("Deployment", {"observedGeneration": 2, "availableReplicas": 3}, True),
        ("Deployment", {"observedGeneration": 1, "availableReplicas": 3}, False),
        ("Deployment", {"observedGeneration": 2}, False),
        ("DaemonSet", {"observedGeneration": 2}, True),
        ("DaemonSet", {"observedGeneration": 2, "desiredNumberScheduled": 1}, False),
        ("Pod", {"conditions": [{"type": "Ready", "status": "True"}]}, True),
        ("Pod", {"conditions": [{"type": "Ready", "status": "False"}]}, False),
    ],
)
def test_ready_controller_works(kind: str, status: dict[str, Any], expected: bool) -> None:
    document = {"kind": kind, "metadata": {"generation": 2}, "spec": {"replicas": 3}, "status": status}
    assert ready(document) is expected
    leaving = {**document, "metadata": {"generation": 2, "deletionTimestamp": "2025-01-01T00:00:00Z"}}
    assert not ready(leaving)


def test_example_of_the_documentation_serves_a_model(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "lab.md").read_text().partition("```yaml\nabout: A serving")[2]
    path = tmp_path / "product.yaml"
    path.write_text("about: A serving" + text.partition("```")[0])
    models = "/apis/serving.example.com/v1/namespaces/team/models"

    async def serve() -> tuple[MemoryApi, dict[str, Any]]:
        api = MemoryApi()
        with_kind(api, "models.serving.example.com/v1", "runtimes.serving.example.com/v1")
        run_operator(api, "serving-operator", "serving")
        spec = {"runtime": "vllm", "replicas": 1, "ports": [8080], "public": True}
        api.put(models, {"metadata": {"name": "granite"}, "spec": spec})
        pages: dict[str, Any] = {}

        async def become_ready() -> None:
            rolled_out(api, "team", "deployments")
            labels = {"serving.example.com/model": "granite"}
            ready = {"conditions": [{"type": "Ready", "status": "True"}]}
            api.put("/api/v1/namespaces/team/pods", {"metadata": {"name": "a", "labels": labels}, "status": ready})

        file = load(path)
        declared = Declarations(file.product.steps)
        targets = await settle_with(
            api,
            tmp_path,
            lambda stores, targets: controllers_of(Cluster(stores, "serving", declared), file, targets),
            become_ready,
        )
        pages |= {where: page() for where, (_, page) in targets.pages.items()}
        return api, pages

    api, pages = asyncio.run(serve())
    model = api.find(f"{models}/granite") or {}
    assert model["status"]["phase"] == "Serving"
    assert model["status"]["urls"] == {"a": "http://a.team"}
    assert model["metadata"]["labels"] == {"serving.example.com/runtime": "vllm"}
    assert model["status"]["conditions"][0]["message"] == "1 replicas are ready"
    assert api.find("/api/v1/namespaces/team/services/granite-8080")
    assert list(pages.values()) == ['# TYPE serving_replicas gauge\nserving_replicas{model="granite"} 1\n']
