"""OpenShift AI 3 on an emulated OpenShift: the effect of writing v1 there, and what the project writes instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

from tests.integration.conftest import Lab
from tests.integration.fine_tuning.flows import Flow
from tests.integration.fine_tuning.objects import objects_of
from tests.integration.fine_tuning.test_flow_on_openshift import left_over
from tests.integration.serving.test_lightspeed import MODEL
from tests.integration.settling import read_stable
from tests.integration.task_sets import TaskSets

from .conftest import names
from .test_task_sets import APPLICATIONS, set_owner

GROUP = "datasciencecluster.opendatahub.io"
# a component that only v2 has
THEIRS = "mlflowoperator"


def dsc(version: str) -> Query:
    return Query(f"{GROUP}/{version}", "DataScienceCluster", name="default-dsc")


def enable(sets: TaskSets, version: str, component: str) -> None:
    """Enable a component in an API version of the DataScienceCluster, as any other client would."""
    sets.cluster.merge(dsc(version), {"spec": {"components": {component: {"managementState": "Managed"}}}})


def states(sets: TaskSets, version: str = "v2") -> dict[str, str]:
    """Return the states of the components in an API version."""
    found = sets.cluster.get(dsc(version))
    assert found is not None
    components = found["spec"]["components"]
    return {name: each["managementState"] for name, each in components.items() if "managementState" in each}


def with_component_of_others(sets: TaskSets, channel: str) -> None:
    """Install OpenShift AI from a channel, with a component that another client enabled."""
    done = sets.play("prepare_rhoai", rhoai_channel=channel, rhoai_components=["trainingoperator"])
    assert done.exit_code == 0, done.output
    set_owner(sets, "others")
    enable(sets, "v2", THEIRS)


def remove_all(sets: TaskSets) -> None:
    set_owner(sets, "psap.perf")
    done = sets.play("cleanup_rhoai", rhoai_remove=True, rhoai_operators=OPERATORS)
    assert done.exit_code == 0, done.output


OPERATORS: list[dict[str, Any]] = [
    {"package": "openshift-cert-manager-operator", "namespace": "openshift-cert-manager-operator"},
    {"package": "kueue-operator", "namespace": "openshift-kueue-operator", "all_namespaces": True},
]


@pytest.mark.deep
def test_v2_components_survive_in_3_3_where_v1_writes_remove_them(on_openshift: TaskSets) -> None:
    with_component_of_others(on_openshift, "stable-3.3")
    done = on_openshift.play("prepare_rhoai", rhoai_components=["ray"])
    assert (done.exit_code, done.commands) == (0, ["rhods__update_datasciencecluster"]), done.output
    assert states(on_openshift)[THEIRS] == states(on_openshift)["ray"] == "Managed"
    deployments = names(on_openshift, "apps/v1", "Deployment", APPLICATIONS)
    assert deployments == {"kubeflow-training-operator", "kuberay-operator", "mlflow-operator-controller-manager"}
    # as the project wrote it before
    enable(on_openshift, "v1", "ray")
    assert states(on_openshift)[THEIRS] == "Removed"
    assert THEIRS not in states(on_openshift, "v1")
    remove_all(on_openshift)


@pytest.mark.deep
def test_v2_components_survive_in_3_4_where_v1_writes_are_refused(on_openshift: TaskSets) -> None:
    with_component_of_others(on_openshift, "stable-3.x")
    with pytest.raises(ClusterError, match="v2-only components are currently Managed: \\[mlflowoperator\\]"):
        enable(on_openshift, "v1", "ray")
    wanted = {"rhoai_components": ["ray", "kueue"], "rhoai_operators": OPERATORS}
    done = on_openshift.play("prepare_rhoai", **wanted)
    assert done.exit_code == 0, done.output
    found = states(on_openshift)
    assert (found[THEIRS], found["ray"], found["kueue"]) == ("Managed", "Managed", "Unmanaged")
    assert names(on_openshift, "kueue.openshift.io/v1", "Kueue") == {"cluster"}
    again = on_openshift.play("prepare_rhoai", **wanted)
    assert (again.exit_code, again.changed) == (0, 0), again.output
    with pytest.raises(ClusterError, match="Managed is no longer supported as a managementState"):
        enable(on_openshift, "v2", "kueue")
    remove_all(on_openshift)
    assert names(on_openshift, "kueue.openshift.io/v1", "Kueue") == set()


@pytest.mark.parametrize(
    ("flow", "settings", "why"),
    [
        ("kserve", {}, "kserve_raw_deployment is false and generation 3 has no serverless mode"),
        pytest.param(
            "lightspeed", MODEL, "ModelMesh serves its model, which generation 3 does not have", marks=pytest.mark.deep
        ),
        pytest.param(
            "fine_tuning",
            {"rhoai_components": ["modelmeshserving"]},
            "generation 3 has no component modelmeshserving",
            marks=pytest.mark.deep,
        ),
    ],
)
def test_flow_on_the_wrong_generation_is_refused_before_installing(
    openshift_lab: Lab, tmp_path: Path, flow: str, settings: dict[str, Any], why: str
) -> None:
    given = json.dumps({"rhoai_channel": "stable-3.x", **settings})
    ran = openshift_lab.run(tmp_path, "ansible-playbook", f"playbooks/{flow}.yml", "-i", "inventories/lab", "-e", given)
    assert ran.returncode != 0, ran.stdout + ran.stderr
    (directory,) = tmp_path.iterdir()
    document = json.loads((directory / "run.json").read_text())
    assert document["exit_code"] == 2
    printed = document["reason"]["why"]
    assert printed.startswith("OpenShift AI 3.4.1 is what channel stable-3.x of rhods-operator installs: ")
    assert why in printed
    assert "set rhoai_channel to fast or stable or stable-2.25" in printed
    assert list(directory.glob("*__prepare*")) == []


@pytest.mark.deep
@pytest.mark.usefixtures("on_openshift")
def test_fine_tuning_prepares_generation_3_with_its_kueue(openshift_lab: Lab, tmp_path: Path) -> None:
    """Prepare generation 3; the fixture deletes the definitions, because generation 2 cannot be installed over them."""
    before = read_stable(lambda: objects_of(openshift_lab.kubeconfig))
    flow = Flow(openshift_lab, tmp_path / "flow")
    played = flow.play(presets=("fine_tuning_gating_smoke", "lab", "rhoai_cleanup"), rhoai_channel="stable-3.x")
    assert played.code == 0, played.output
    (result,) = played.documents("fine_tuning.json")
    assert result["outcome"] == "completed"
    prepared = [row["directory"] for row in played.commands() if "prepare_cluster" in row["directory"]]
    # cert-manager, the Red Hat build of Kueue, OpenShift AI
    assert len([name for name in prepared if name.endswith("cluster__deploy_operator")]) == 3
    (path,) = played.directory.glob("*__prepare_cluster/**/*__rhods__update_datasciencecluster/src/*.yml")
    cluster = yaml.safe_load(path.read_text())
    assert cluster["apiVersion"].endswith("/v2")
    components = cluster["spec"]["components"]
    states = {name: each["managementState"] for name, each in components.items()}
    assert {name for name, state in states.items() if state != "Removed"} == {"kueue", "ray", "trainingoperator"}
    assert states["kueue"] == "Unmanaged"
    assert left_over(before, openshift_lab) == {}
