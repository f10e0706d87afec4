"""The flow on a lab of the profile openshift, where all prerequisites are missing at first."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import Lab, perflab
from tests.integration.fine_tuning.flows import Flow, FlowResult
from tests.integration.fine_tuning.objects import Document, Name, objects_of
from tests.integration.settling import read_stable, read_until_expected

# what remains after the complete cleanup, and why
KINDS_OF_PRODUCTS = "OLM never removes the kinds of an operator: their objects would go with them"
STAYS = {
    "CustomResourceDefinition": KINDS_OF_PRODUCTS,
    "APIService": KINDS_OF_PRODUCTS,
    "Operator": "OLM has one as long as there are kinds of an operator",
}

# the object in which `perflab step` keeps a test's steps
OURS = Name("ConfigMap", "kube-system", "perflab-steps")


@pytest.fixture(name="flow")
def _flow(openshift_lab: Lab, tmp_path: Path) -> Flow:
    return Flow(openshift_lab, tmp_path)


@pytest.fixture(name="found", scope="module")
def _found(openshift_lab: Lab) -> dict[Name, Document]:
    """Return the lab's objects before this module's tests, once they no longer change."""
    return read_stable(lambda: objects_of(openshift_lab.kubeconfig))


@pytest.fixture(name="steps")
def _steps(openshift_lab: Lab) -> Iterator[None]:
    """Clear the steps that a test sets."""
    yield
    perflab("step", "--name", openshift_lab.name, "--clear")


def differences(before: dict[Name, Document], after: dict[Name, Document]) -> dict[Name, str]:
    """Return the objects that were added, removed or changed, except those that may stay."""
    came = {name: "came" for name in after if name not in before and not _stays(name, after[name]) and name != OURS}
    went = {name: "went" for name in before if name not in after}
    other = {name: "became different" for name in before if before[name] != after.get(name, before[name])}
    other.pop(OURS, None)
    return {**came, **went, **other}


def _stays(name: Name, document: Document) -> bool:
    # the roles that OLM creates for the users of a kind are owned by the kind's definition
    owners = document["metadata"].get("ownerReferences", ())
    return name.kind in STAYS or any(owner["kind"].lower() == "customresourcedefinition" for owner in owners)


def left_over(found: dict[Name, Document], lab: Lab) -> dict[Name, str]:
    """Return the remaining differences; the garbage collector deletes dependent objects a moment later."""
    return read_until_expected(lambda: differences(found, objects_of(lab.kubeconfig)), operator.not_)


def lanes(played: FlowResult, group: str) -> dict[str, tuple[str, str]]:
    """Return start and end of the commands of each lane of a parallel region."""
    found: dict[str, tuple[str, str]] = {}
    for row in played.commands():
        if f"__{group}/" in row["directory"] and row["lane"]:
            start, end = found.get(row["lane"], (row["start"], row["end"]))
            found[row["lane"]] = (min(start, row["start"]), max(end, row["end"]))
    return found


@pytest.mark.deep
def test_check_mode_on_an_empty_lab_succeeds_and_changes_nothing(flow: Flow, found: dict[Name, Document]) -> None:
    played = flow.play("--check", presets=("fine_tuning_dgx", "lab"))
    assert played.code == 0, played.output
    assert played.document["check"] is True
    assert left_over(found, flow.lab) == {}


@pytest.mark.deep
def test_gpus_are_prepared_if_only_an_experiment_uses_them(flow: Flow) -> None:
    played = flow.play(
        "--check", "--tags", "prepare", presets=("fine_tuning_light", "lab"), rhoai_prepare=False,
        matrix_experiments=[{"fine_tuning_gpu": 1}],
    )  # fmt: skip
    assert played.code == 0, played.output
    assert [row for row in played.commands() if row["directory"].endswith("gpu_operator__deploy_from_operatorhub")]


def test_lab_is_unchanged_after_prepare_train_and_cleanup(flow: Flow, found: dict[Name, Document]) -> None:
    presets = ("fine_tuning_gating_smoke", "lab")
    first = flow.play("--tags", "prepare", presets=presets)
    assert first.code == 0, first.output
    assert first.changed > 0
    second = flow.play("--tags", "prepare", presets=presets)
    assert (second.code, second.changed) == (0, 0), second.output
    whole = flow.play("--skip-tags", "prepare", presets=(*presets, "rhoai_cleanup"))
    assert whole.code == 0, whole.output
    (result,) = whole.documents("fine_tuning.json")
    assert (result["outcome"], result["gpu_product"]) == ("completed", "Tesla-T4")
    assert left_over(found, flow.lab) == {}
    # each lane of a region begins before the other ends
    for played, region, names in (
        (first, "prepare_test", {"gpus", "namespace"}),
        (whole, "cleanup_cluster", {"gpus", "rhoai"}),
    ):
        regions = lanes(played, region)
        assert set(regions) == names
        assert max(start for start, _end in regions.values()) < min(end for _start, end in regions.values())


@pytest.mark.deep
@pytest.mark.usefixtures("steps")
def test_operator_that_never_installs_fails_the_run_by_name(flow: Flow, found: dict[Name, Document]) -> None:
    perflab("step", "--name", flow.lab.name, "olm.csv=never")
    presets = ("fine_tuning_dgx", "lab", "rhoai_cleanup")
    played = flow.play(presets=presets, rhoai_timeout="20s")
    assert played.code == 2
    document = played.document
    assert (document["status"], document["exit_code"]) == ("failed", 1)
    assert document["reason"]["what"] == "cluster_deploy_operator: Wait until the operator is installed"
    assert "ClusterServiceVersion rhods-operator" in document["reason"]["why"]
    where = played.directory / document["reason"]["directory"]
    assert list(where.rglob("clusterserviceversion*")), document["reason"]
    # nothing is trained on a cluster that is not ready, and the begun preparation is undone
    assert played.documents("fine_tuning.json") == []
    assert left_over(found, flow.lab) == {}


@pytest.mark.deep
def test_many_jobs_pass_a_queue_created_for_them(flow: Flow, found: dict[Name, Document]) -> None:
    played = flow.play(
        presets=("fine_tuning_many_model", "lab", "rhoai_cleanup"),
        rhoai_prepare=False,
        fine_tuning_gpu=0,
        fine_tuning_many_model_count=6,
        fine_tuning_many_model_timespan="1s",
    )
    assert played.code == 0, played.output
    (accounting,) = played.documents("accounting.json")
    assert (accounting["asked"], accounting["completed"]) == (6, 6)
    assert left_over(found, flow.lab) == {}
