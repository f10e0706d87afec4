"""What is written for openshift-install: of each preset, as docs/clusters.md shows it, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.documents import yaml_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.clusters.install_config import (
    InstallPlan,
    Machines,
    Networks,
    changed_manifests,
    check_tags,
    install_config,
)
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import new_record
from ansible_collections.psap.perf.plugins.plugin_utils.installing import plan_of
from jinja2.nativetypes import NativeEnvironment

PROJECT = Path(__file__).resolve().parents[3]
ROLE = PROJECT / "collections/ansible_collections/psap/perf/roles/cluster_create_ocp"
PAGE = (PROJECT / "docs/clusters.md").read_text(encoding="utf-8")
SHOWN = dict(re.findall(r"^### Preset `(\w+)`\n.*?```yaml\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))
PLAN = InstallPlan("molecule", "perf.example.com", "us-east-2")


def _arguments(preset: str) -> dict[str, Any]:
    """What the role gives the verb, of a preset and the role's defaults."""
    values = yaml.safe_load((ROLE / "defaults/main.yml").read_text(encoding="utf-8"))
    document = yaml.safe_load((PROJECT / f"presets/{preset}.yml").read_text(encoding="utf-8"))
    for name, value in document[f"preset_{preset}"].items():
        if name.startswith("clusters_create_ocp_"):
            values[name.replace("clusters_create", "cluster_create")] = value
    values |= {"cluster_create_ocp_base_domain": "perf.example.com", "cluster_create_ocp_pull_secret": "file:pull"}
    (task,) = yaml.safe_load((ROLE / "tasks/main.yml").read_text(encoding="utf-8"))
    found: dict[str, Any] = _rendered(task["psap.perf.clusters.install"], values)
    return found


def _rendered(item: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(item, dict):
        return {key: _rendered(value, values) for key, value in item.items()}
    # a text of numbers and dots is a text to Ansible, which renders a single variable as it is
    return values[found[1]] if (found := re.fullmatch(r"{{ (\w+) }}", item)) else NativeEnvironment().from_string(item)


@pytest.mark.parametrize("preset", sorted(path.stem for path in PROJECT.glob("presets/*_cluster.yml")))
def test_a_preset_is_rendered_as_the_page_shows(preset: str) -> None:
    now = datetime(2026, 11, 25, 8, tzinfo=UTC)
    record = new_record("run-1", "sutest", "ocp", name="perf-sutest-1f0c9a", owner="jane", now=now)
    document = install_config(plan_of(_arguments(preset), record, "4.19.2"), '{"auths": …}', "ssh-ed25519 AAAA…")
    assert SHOWN.get(preset) == yaml_text(document)


def test_every_field_that_is_written_is_explained_on_the_page() -> None:
    machines = Machines("m6i.xlarge", 200, "gp3", ("us-east-2a",))
    subnets = ("subnet-0e953079d31ec4c74",)
    full = replace(PLAN, control_plane=machines, workers=machines, subnets=subnets, hosted_zone="Z1", tags={"a": "b"})
    for release in ("4.18.3", "4.19.0"):
        for path in _paths(install_config(replace(full, release=release), "{}", "ssh-ed25519 A")):
            assert f"| `{path}` |" in PAGE, path


def _paths(item: Any, at: str = "") -> Iterator[str]:
    if isinstance(item, list):
        for each in item:
            yield from _paths(each, f"{at}[]")
    elif isinstance(item, dict) and not at.endswith("userTags"):
        for key, value in item.items():
            yield from _paths(value, f"{at}.{key}".lstrip("."))
    else:
        yield at.removesuffix("[]")


def test_subnets_stand_where_the_release_has_them() -> None:
    plan = replace(PLAN, subnets=("subnet-0e953079d31ec4c74",))
    assert install_config(plan, "{}")["platform"]["aws"]["vpc"] == {"subnets": [{"id": "subnet-0e953079d31ec4c74"}]}
    old = install_config(replace(plan, release="4.18.30"), "{}")["platform"]["aws"]
    assert old["subnets"] == ["subnet-0e953079d31ec4c74"] and "vpc" not in old


def test_spot_and_light_change_the_manifests() -> None:
    provider = {"value": {"instanceType": "m6i.xlarge"}}
    machine_set = {"kind": "MachineSet", "spec": {"template": {"spec": {"providerSpec": provider}}}}
    ingress = "manifests/cluster-ingress-default-ingresscontroller.yaml"
    there = {"openshift/99.yaml": machine_set, ingress: {"kind": "IngressController", "spec": {"domain": "apps.a"}}}
    assert changed_manifests(PLAN, there) == {}
    changed = changed_manifests(replace(PLAN, spot=True, topology="light"), there)
    value = changed["openshift/99.yaml"]["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert value == {"instanceType": "m6i.xlarge", "spotMarketOptions": {}}
    assert changed[ingress]["spec"] == {"domain": "apps.a", "replicas": 1}
    assert {"manifests/perf-etcd.yaml", "manifests/perf-authentication.yaml"} < changed.keys()
    assert provider == {"value": {"instanceType": "m6i.xlarge"}}
    with pytest.raises(UsageError, match="made no MachineSets"):
        changed_manifests(replace(PLAN, spot=True), {})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"base_domain": "example"}, "is no base domain"),
        ({"region": "US"}, "is no region of AWS"),
        ({"topology": "huge"}, "is no topology"),
        ({"workers_count": 0}, "without workers"),
        ({"topology": "single_node", "spot": True}, "cannot be a spot instance"),
        ({"hosted_zone": "Z1"}, "needs subnets"),
        ({"subnets": ("subnet-1",)}, "no IDs of subnets"),
        ({"networks": Networks(machines="10.0.0.1/16")}, "is no IPv4 network of machines"),
        ({"networks": Networks(machines="10.128.0.0/16")}, "overlap"),
        ({"networks": Networks(host_prefix=14)}, "cannot have a /14"),
        ({"workers": Machines(disk_type="gp3")}, "needs a size"),
        ({"tags": {"Name": "x"}}, "is no key of a tag"),
        ({"tags": {"kubernetes.io/cluster/a": "owned"}}, "is no key of a tag"),
        ({"tags": {"owner": "jane doe"}}, "is no value of tag owner"),
    ],
)
def test_what_cannot_be_is_refused_before_the_installer_starts(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        install_config(replace(PLAN, **changes), "{}")


def test_more_tags_than_openshift_takes_are_refused() -> None:
    check_tags({f"tag{number}": "a" for number in range(25)})
    with pytest.raises(UsageError, match="26 tags are more than the 25"):
        check_tags({f"tag{number}": "a" for number in range(26)})
