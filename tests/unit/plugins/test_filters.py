"""Filters called as in a template: documented, converting command-line values, refusing as verbs do."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleActionFail, AnsibleFilterError

from tests.unit.machines.sets import aws

FILTERS = Path(__file__).parents[3] / "collections/ansible_collections/psap/perf/plugins/filter"
NAMES = sorted(path.stem for path in FILTERS.glob("*.py"))


def module(name: str) -> Any:
    return importlib.import_module(f"ansible_collections.psap.perf.plugins.filter.{name}")


def evaluate(name: str, given: Any, *arguments: Any, **options: Any) -> Any:
    return module(name).FilterModule().filters()[name](given, *arguments, **options)


def refused(name: str, given: Any, *arguments: Any, **options: Any) -> tuple[str, int]:
    """Return the message and the exit code of the task's result."""
    with pytest.raises(AnsibleFilterError) as caught:
        evaluate(name, given, *arguments, **options)
    assert isinstance(caught.value, AnsibleActionFail)
    return str(caught.value), int(caught.value.result["exit_code"])


@pytest.mark.parametrize("name", NAMES)
def test_filter_is_documented_by_its_name(name: str) -> None:
    documentation = yaml.safe_load(module(name).DOCUMENTATION)
    assert documentation["name"] == name
    assert set(documentation.get("positional", "").split(", ")) <= {"", *documentation["options"]}
    assert f"psap.perf.{name}" in module(name).EXAMPLES
    assert "_value" in yaml.safe_load(module(name).RETURN)


def csv(*examples: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "nfd.v4", "annotations": {"alm-examples": json.dumps(examples)}}}


EXAMPLE = {"kind": "NodeFeatureDiscovery", "metadata": {"name": "nfd", "namespace": "theirs"}}


def test_example_has_no_namespace() -> None:
    assert evaluate("operator_example", csv(EXAMPLE), "true") == {**EXAMPLE, "metadata": {"name": "nfd"}}
    assert refused("operator_example", csv(EXAMPLE), "Other") == (
        "nfd.v4 has no example Other; there are: 0 NodeFeatureDiscovery",
        2,
    )


def test_operator_plan_names_the_group_to_create() -> None:
    chosen = {"channel": "stable", "csv": "nfd.v4", "newest": "nfd.v4", "version": "4"}
    where = {"package": "nfd", "namespace": "openshift-nfd", "all_namespaces": False}
    planned = {"channel": "stable", "csv": "nfd.v4", "operator_group": "nfd-operator-group"}
    assert evaluate("operator_plan", chosen, **where) == planned
    theirs = {"metadata": {"name": "theirs"}, "spec": {"targetNamespaces": ["openshift-nfd"]}}
    assert evaluate("operator_plan", chosen, **where, operator_groups=[theirs])["operator_group"] == ""


def package() -> dict[str, Any]:
    modes = [{"type": "OwnNamespace", "supported": True}, {"type": "AllNamespaces", "supported": False}]
    channel = {
        "name": "stable",
        "currentCSV": "nfd.v2",
        "currentCSVDesc": {"version": "2", "installModes": modes},
        "entries": [{"name": f"nfd.v{version}", "version": version} for version in ("2", "1")],
    }
    return {"metadata": {"name": "nfd"}, "status": {"defaultChannel": "stable", "channels": [channel]}}


def test_version_is_chosen_next_to_the_newest_of_its_channel() -> None:
    chosen = evaluate("operator_package", package(), channel="stable", version="1", install_mode="OwnNamespace")
    assert chosen == {"channel": "stable", "csv": "nfd.v1", "version": "1", "newest": "nfd.v2"}
    sentence, code = refused("operator_package", package(), install_mode="AllNamespaces")
    assert (sentence, code) == ("nfd of channel stable does not support AllNamespaces, but OwnNamespace", 2)
    assert "install_mode" in refused("operator_package", package(), install_mode="Everywhere")[0]


def test_components_come_from_the_definition_and_text_is_a_list() -> None:
    state: dict[str, Any] = {"properties": {"managementState": {}}}
    schema = {"properties": {"spec": {"properties": {"components": {"properties": {"ray": state, "kueue": state}}}}}}
    definition = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}
    present = {"metadata": {"name": "theirs"}, "spec": {"components": {"kueue": {"managementState": "Managed"}}}}
    chosen = evaluate("choose_components", definition, present, enable="ray", others="unchanged")
    assert chosen["available"] == ["kueue", "ray"]
    assert chosen["definition"]["metadata"] == {"name": "theirs"}
    components = chosen["definition"]["spec"]["components"]
    assert {name: one["managementState"] for name, one in components.items()} == {"kueue": "Managed", "ray": "Managed"}
    assert refused("choose_components", definition, enable=["rai"])[0].startswith("enable: unknown component rai")
    unknown = evaluate("choose_components", {}, enable=["ray"])
    assert (unknown["available"], unknown["definition"]["metadata"]) == ([], {"name": "default-dsc"})


def test_configured_project_template_must_exist() -> None:
    wanted = evaluate("project_template", [], {}, key="team", value="psap")
    assert (wanted["name"], wanted["own"], wanted["needed"]) == ("project-request", True, True)
    assert evaluate("project_template", [], {}, key="team")["definition"] == {}
    configuration = {"spec": {"projectRequestTemplate": {"name": "theirs"}}}
    sentence, code = refused("project_template", [], configuration, key="team", value="psap")
    assert sentence.startswith(
        "the configuration of projects names the Template theirs, which is not in openshift-conf"
    )
    assert code == 3


def machine(name: str, machine_set: dict[str, Any], phase: str = "Running") -> dict[str, Any]:
    owner = {"uid": machine_set["metadata"]["uid"]}
    return {
        "metadata": {"name": name, "ownerReferences": [owner]},
        "status": {"phase": phase, "nodeRef": {"name": name}},
    }


def test_smaller_set_loses_the_idle_machine() -> None:
    gpus = aws("gpus", "g5.2xlarge", replicas=2)
    gpus["metadata"]["uid"] = "1"
    machines = [machine("busy", gpus), machine("idle", gpus)]
    pods = [{"metadata": {"ownerReferences": None}, "spec": {"nodeName": "busy"}, "status": {"phase": "Running"}}]
    options = {"instance_type": "g5.2xlarge", "scale": "1", "disk_size": None, "ibm": None, "taint": ""}
    planned = evaluate("machine_scaling", [gpus], machines, pods, **options)
    assert planned == {
        "clone": {},
        "changes": [{"name": "gpus", "change": {"spec": {"replicas": 1}}}],
        "removed": [],
        "awaited": ["gpus"],
        "leaving": ["idle"],
        "failed": [],
    }
    sentence, code = refused("machine_scaling", [gpus], machines, pods, **{**options, "taint": "molecule"})
    assert sentence.startswith("taint: 'molecule' is not key=value:effect")
    assert code == 2


def test_free_resources_exclude_the_pods_of_each_node() -> None:
    nodes = [
        {
            "metadata": {"name": name},
            "status": {"allocatable": {"cpu": "4"}, "conditions": [{"type": "Ready", "status": ready}]},
        }
        for name, ready in (("a", "True"), ("b", "True"), ("broken", "False"))
    ]
    container = {"resources": {"requests": {"cpu": "1"}}}
    # Fields that a query omits are null.
    spec = {"containers": [container], "initContainers": None, "overhead": None, "resources": None}
    pods = [{"spec": {**spec, "nodeName": node}, "status": {"phase": "Running"}} for node in ("a", "a", None)]
    free = evaluate("free_resources", nodes, pods, resources=["cpu"], margin={"cpu": "10m"})
    assert free == [{"name": "a", "free": {"cpu": "1990m"}}, {"name": "b", "free": {"cpu": "3990m"}}]


def test_excess_argument_is_refused() -> None:
    assert refused("operator_example", csv(EXAMPLE), "true", "more") == (
        "2 arguments without a name, but at most 1 are allowed",
        2,
    )
