"""The downloads and trainings of the flow fine_tuning, planned from its settings alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.psap.perf.plugins.filter.training_plan import FilterModule
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.plan import Plan, make_plan, without_nulls
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.sources import CONVERTERS
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import cells
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective
from ansible_collections.psap.perf.plugins.plugin_utils.settings.site_reader import read_site

PROJECT = Path(__file__).resolve().parents[3]
DECLARED = Project(PROJECT)
LAB = read_site(PROJECT, str(PROJECT / "inventories/lab")).layers_of()
ALPACA = "https://raw.githubusercontent.com/tatsu-lab/stanford_alpaca/main/alpaca_data.json"


def defaults_with(**changes: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return settings and cells of the declared defaults with *changes*, by names without the flow's prefix."""
    options = DECLARED.settings_of("fine_tuning")
    settings = {option.name: option.default for option in options}
    settings.update({f"fine_tuning_{name}": value for name, value in changes.items()})
    found = cells(options, settings, [])
    return settings, [{"index": one.index, "name": one.name, "values": one.values} for one in found]


def plan(**changes: Any) -> Plan:
    """Return the plan of the declared defaults with *changes*."""
    return make_plan(*defaults_with(**changes))


# The number of cells of the presets with several
CELLS = {
    "fine_tuning_dgx_single_full": 72,
    "fine_tuning_dgx_single_model_multi_dataset": 4,
    "fine_tuning_dgx_single_model_multi_gpu": 5,
    "fine_tuning_gating_dgx40gb_full": 6,
    "fine_tuning_gating_dgx40gb_lora": 8,
    "fine_tuning_ilab_aws": 2,
    "fine_tuning_ilab_scale": 3,
    "fine_tuning_secondary_nic": 5,
    "fine_tuning_secondary_nic_rdma": 5,
}


@pytest.mark.parametrize(
    "preset", [name for name, path in DECLARED.presets.items() if "\n  fine_tuning_" in path.read_text("utf-8")]
)
def test_every_preset_can_be_trained(preset: str) -> None:
    settings = {name: one.value for name, one in effective(DECLARED, "fine_tuning", LAB, [preset]).items()}
    found = cells(DECLARED.settings_of("fine_tuning"), settings, settings["matrix_skip_if"])
    planned = make_plan(settings, [{"index": one.index, "name": one.name, "values": one.values} for one in found])
    assert len(planned.cells) == CELLS.get(preset, 1)
    assert all(cell.trainings for cell in planned.cells)


def test_preset_combines_with_a_method() -> None:
    settings = effective(DECLARED, "fine_tuning", LAB, ["fine_tuning_qlora"])
    assert settings["fine_tuning_hyper_parameters"].value == {
        "peft_method": "lora", "r": 4, "lora_alpha": 16, "fp16": True, "torch_dtype": "float16",
        "raw_lists": {"target_modules": ["q_proj", "k_proj"], "auto_gptq": ["triton_v2"]},
    }  # fmt: skip


def test_converters_equal_those_of_the_jobs() -> None:
    argument = DECLARED.argument("shared_fine_tuning_job_dataset_transform")
    assert argument is not None
    assert argument.choices == ("", *CONVERTERS)


@pytest.mark.parametrize(("asked", "most"), [(0, 0), ([0, 4, 2], 4)])
def test_plan_counts_the_gpus_per_node(asked: int | list[int], most: int) -> None:
    assert plan(gpu=asked).gpus == most


def test_defaults_are_one_job_and_two_downloads() -> None:
    planned = plan()
    ((training,),) = (cell.trainings for cell in planned.cells)
    assert (training.name, training.phase, training.model_name) == ("fms-0", "", "bigscience/bloom-560m")
    assert (training.dataset_transform, training.dataset_response_template) == ("", "\n### Label:")
    assert [(one.storage_dir, one.name) for one in planned.downloads] == [
        ("/model", "bigscience/bloom-560m"),
        ("/dataset", "twitter_complaints_small.json"),
    ]
    assert planned.downloads[0].source == "hf://bigscience/bloom-560m"


def test_cells_share_downloads_and_have_separate_jobs() -> None:
    planned = plan(gpu=[1, 2], hyper_parameters={"r": [4, 8], "fp16": None}, dataset_name="alpaca_data.json")
    assert [cell.trainings[0].name for cell in planned.cells] == ["fms-0", "fms-1", "fms-2", "fms-3"]
    assert [cell.trainings[0].hyper_parameters for cell in planned.cells][1:3] == [{"r": 8}, {"r": 4}]
    assert [one.source for one in planned.downloads] == ["hf://bigscience/bloom-560m", ALPACA]


@pytest.mark.parametrize(
    ("workload", "transform", "template"),
    [("fms", "convert_alpaca", "\n### Response:"), ("ilab", "convert_alpaca_to_messages", "")],
)
def test_converter_and_response_follow_from_source_and_workload(workload: str, transform: str, template: str) -> None:
    (cell,) = plan(workload=workload, dataset_name="alpaca_data.json").cells
    (training,) = cell.trainings
    assert (training.dataset_transform, training.dataset_response_template) == (transform, template)


def test_models_are_found_by_registry_or_entry() -> None:
    sources = {
        "hf": {"type": "model_registry", "source_dir": "hf://", "secret": "env:HF_TOKEN"},
        "own": {"type": "model", "source_dir": "s3://models", "image": "quay.io/x/aws:1"},
        "here": {"type": "dataset"},
    }
    given = {"sources": sources, "dataset_name": "here.jsonl", "model_registry": "hf"}
    planned = plan(model_name=["own", "org/a", "org/b@hf"], **given)
    assert [(one.source, one.creds) for one in planned.downloads] == [
        ("s3://models/own", ""), ("hf://org/a", "env:HF_TOKEN"), ("hf://org/b", "env:HF_TOKEN"),
    ]  # fmt: skip
    assert planned.downloads[0].image == "quay.io/x/aws:1"
    assert planned.downloads[1].image.startswith("registry.access.redhat.com/")


def test_secondary_networks_are_named_or_counted() -> None:
    counted = plan(secondary_nic_prefix="port-", secondary_nic_count=[0, 2])
    assert [cell.trainings[0].use_secondary_nic for cell in counted.cells] == [(), ("port-1", "port-2")]
    (named,) = plan(secondary_nics=["roce"]).cells
    assert named.trainings[0].use_secondary_nic == ("roce",)


def test_several_models_train_alone_and_then_concurrently() -> None:
    models = [
        {"name": "bigcode/gpt_bigcode-santacoder@hf", "replicas": 2},
        {"name": "org/Very.Long_Name-of-a-model@hf"},
    ]
    planned = plan(mode="multi_model", multi_model=models)
    (cell,) = planned.cells
    assert [(one.phase, one.name) for one in cell.trainings] == [
        ("reference", "fms-0-0-gpt-bigcode-santacod-alone"),
        ("reference", "fms-0-1-very-long-name-of-a-alone"),
        ("concurrent", "fms-0-0-gpt-bigcode-santacod-0"),
        ("concurrent", "fms-0-0-gpt-bigcode-santacod-1"),
        ("concurrent", "fms-0-1-very-long-name-of-a-0"),
    ]
    assert all(len(one.name) <= 50 for one in cell.trainings)
    assert len(planned.downloads) == 3


def test_filter_refuses_more_jobs_than_forks_and_lists_secrets() -> None:
    training_plan = FilterModule().filters()["training_plan"]
    settings, found = defaults_with(mode="multi_model", multi_model=[{"name": "org/model@hf", "replicas": 5}])
    sources = settings["fine_tuning_sources"]
    settings["fine_tuning_sources"] = {**sources, "hf": {**sources["hf"], "secret": "env:TOKEN"}}
    planned = training_plan(settings, found, forks="5")
    assert (planned["secrets"], len(planned["cells"][0]["trainings"])) == (["env:TOKEN"], 6)
    with pytest.raises(AnsibleFilterError, match="5 concurrent jobs need as many forks, but Ansible has 4"):
        training_plan(settings, found, forks=4)


def test_load_of_many_jobs_has_a_rate() -> None:
    (even,) = plan(mode="many_model", many_model_count=64, many_model_timespan="32s").cells
    (at_once,) = plan(mode="many_model").cells
    assert (even.rate, at_once.rate) == (2.0, 0.0)


def test_nulls_keep_the_base_at_every_depth() -> None:
    assert without_nulls({"a": None, "b": {"c": None, "d": 0}, "e": False}) == {"b": {"d": 0}, "e": False}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_name": "org/model"}, "the registry of org/model is missing; write org/model@REGISTRY with one of hf"),
        ({"model_name": "org/model@hg"}, "unknown registry hg; fine_tuning_sources has hf"),
        ({"dataset_name": "alpaca_dat.json"}, "fine_tuning_dataset_name: unknown data set alpaca_dat.json"),
        ({"sources": {"x": {"type": "file"}}}, "fine_tuning_sources.x.type must be one of dataset, model"),
        ({"sources": {"x": {"type": "model", "url": "a"}}}, "fine_tuning_sources.x.url is unknown"),
        ({"sources": {"x": "hf://"}}, "fine_tuning_sources.x must be a dictionary"),
        ({"sources": {"x": {"type": "dataset", "transform": 3}}}, "x.transform must be the name of a converter"),
        (
            {"sources": {"x": {"type": "dataset", "transform": {"fsm": "convert_alpaca"}}}},
            "fine_tuning_sources.x.transform.fsm is not a workload; did you mean fms?",
        ),
        (
            {"sources": {"x": {"type": "dataset", "transform": "convert_alpacca"}}},
            "fine_tuning_sources.x.transform: unknown converter convert_alpacca; did you mean convert_alpaca",
        ),
        ({"sources": {"x": {"type": "dataset", "source_dir": 3}}}, "x.source_dir must be a text"),
        ({"sources": {"x": {"type": "model", "secret": "hunter2"}}}, "x.secret must name a secret, not be one"),
        ({"mode": "multi_model"}, "mode multi_model needs models"),
        ({"mode": "multi_model", "multi_model": [{"name": "a@hf"}], "gpu": [1, 2]}, "but the settings make 2"),
        ({"mode": "multi_model", "multi_model": [{"name": "a@hf", "replicas": 0}]}, "replicas must be at least 1"),
        ({"many_model_timespan": "soon"}, "soon"),
        ({"name": "a" * 21}, "is not a valid beginning of a job name"),
        ({"name": "1st"}, "is not a valid beginning of a job name"),
    ],
)
def test_invalid_training_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan(**changes)


def test_all_mistakes_are_reported_together() -> None:
    with pytest.raises(UsageError) as raised:
        plan(model_name=["a", "b@nowhere"], dataset_name="alpaca_data.json", name="B_d")
    assert len(str(raised.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("changes", "pods"),
    [
        ({"pod_count": 2, "gpu": 4}, [(2, 4)]),
        ({"pod_count": [1, 3], "gpu": 1}, [(1, 1), (3, 1)]),
        ({"mode": "many_model", "many_model_count": 12, "gpu": 1}, [(12, 1)]),
        ({"mode": "multi_model", "multi_model": [{"name": "", "replicas": 3}, {"name": ""}], "gpu": 2}, [(4, 2)]),
    ],
)
def test_machines_are_counted_for_concurrent_pods(changes: dict[str, Any], pods: list[tuple[int, int]]) -> None:
    planned = plan(dataset_name="", model_name="", **changes)

    assert [(each.count, each.gpus) for (each,) in planned.pods] == pods
