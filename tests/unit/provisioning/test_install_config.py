"""Input files of openshift-install: each preset as in docs/clusters.md, and refused values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.documents import yaml_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.install_config import (
    InstallPlan,
    Machines,
    Networks,
    changed_manifests,
    check_pull_secret,
    check_tags,
    install_config,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.installer import Release
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import new_record
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import command_arguments
from ansible_collections.psap.perf.plugins.plugin_utils.installing import PlanArguments, plan_of

from tests.standins.openshift.install_config_rules import public_key, refusals

PROJECT = Path(__file__).resolve().parents[3]
ROLE = PROJECT / "collections/ansible_collections/psap/perf/roles/cluster_create_ocp"
PAGE = (PROJECT / "docs/clusters.md").read_text(encoding="utf-8")
SHOWN = dict(re.findall(r"^### Preset `(\w+)`\n.*?```yaml\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))
PLAN = InstallPlan("molecule", "perf.example.com", "us-east-2")
PULL_SECRET = '{"auths": {"quay.io": {"auth": "bm9uZQ=="}}}'
PRESETS = [f"clusters_{kind}" for kind in ("fips", "gpu", "light", "single_node", "spot")]
NOW = datetime(2026, 11, 25, 8, tzinfo=UTC)
RECORD = new_record("run-1", "sutest", "ocp", name="perf-sutest-1f0c9a", owner="jane", now=NOW)
RELEASE = Release("4.19.2", "amd64")
SUBNET = "subnet-0e953079d31ec4c74"


def _arguments(*presets: str) -> PlanArguments:
    """Return the verb's input, with the values of *presets* and the command's defaults."""
    values: dict[str, Any] = {"cluster_create_ocp_base_domain": "perf.example.com"}
    for preset in presets:
        document = yaml.safe_load((PROJECT / f"presets/{preset}.yml").read_text(encoding="utf-8"))
        for name, value in document[f"preset_{preset}"].items():
            if name.startswith("clusters_create_ocp_"):
                values[name.replace("clusters_create", "cluster_create")] = value
    arguments = command_arguments(read_command(ROLE, ROLE), values)
    return convert({option.short_name: value for option, value in arguments}, PlanArguments)


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_renders_as_the_page_shows(preset: str) -> None:
    algorithm = "ecdsa-sha2-nistp256" if preset == "clusters_fips" else "ssh-ed25519"
    key = public_key(algorithm)
    plan = replace(plan_of(_arguments(preset), RECORD, RELEASE), ssh_key=key)
    shown = yaml_text(install_config(plan, '{"auths": …}')).replace(key, f"{algorithm} AAAA…")
    assert SHOWN.get(preset) == shown


# All except a single node, which has no workers that could be spot instances
PAIRS = [pair for pair in itertools.permutations(PRESETS, 2) if set(pair) != {"clusters_single_node", "clusters_spot"}]


@pytest.mark.parametrize("presets", PAIRS)
def test_combined_presets_are_valid_for_the_installer(presets: tuple[str, str]) -> None:
    document = install_config(plan_of(_arguments(*presets), RECORD, RELEASE), PULL_SECRET)
    assert refusals(document, fips_host=True) == []


def test_every_written_field_is_explained_on_the_page() -> None:
    machines = Machines("m6i.xlarge", 200, "gp3", ("us-east-2a",))
    pools = replace(PLAN, control_plane=machines, workers=machines, ssh_key=public_key("ssh-rsa"))
    full = replace(pools, subnets=(SUBNET,), hosted_zone="Z1", tags={"a": "b"})
    for release in ("4.18.3", "4.19.0"):
        for path in _paths(install_config(replace(full, release=release), "{}")):
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


def test_subnets_are_placed_as_the_release_expects() -> None:
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
    with pytest.raises(UsageError, match="created no MachineSets"):
        changed_manifests(replace(PLAN, spot=True), {})


# The installer refuses these too.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"hosted_zone": "Z1"}, "needs existing subnets"),
    ({"subnets": (SUBNET, SUBNET)}, f"listed more than once: {SUBNET}"),
    ({"networks": Networks(machines="10.0.0.1/16")}, "is not an IPv4 network of machines"),
    ({"networks": Networks(machines="0.0.0.0/8")}, "it has no address"),
    ({"networks": Networks(machines="10.128.0.0/16")}, "overlap"),
    ({"networks": Networks(machines="100.64.0.0/18")}, r"machines \(100.64.0.0/18\) and OVN-Kubernetes's join subnet"),
    ({"networks": Networks(pods="100.80.0.0/12")}, "OVN-Kubernetes's transit subnet"),
    ({"networks": Networks(services="169.254.64.0/20")}, "OVN-Kubernetes's masquerade subnet"),
    ({"networks": Networks(services="172.0.0.0/11")}, "larger than a /12"),
    ({"networks": Networks(type="OpenShiftSDN")}, "does not support the network plugin OpenShiftSDN"),
    ({"networks": Networks(type="kuryr")}, "does not support the network plugin kuryr"),
    ({"networks": Networks(host_prefix=13)}, "cannot have a /13"),
    ({"workers": Machines(zones=("us-west-2a",))}, "zones us-west-2a are not in the region us-east-2"),
    ({"control_plane": Machines(zones=("us-east-2a", "eu-west-1a"))}, "zones eu-west-1a are not"),
    ({"workers": Machines(disk_type="io2", disk_size=100)}, "type io2 is not possible; choose one of gp3"),
    ({"workers": Machines(disk_type="fast", disk_size=100)}, "type fast is not possible"),
    ({"ssh_key": "ssh-ed25519 AAAA"}, "is not a public key"),
    ({"workers": Machines(disk_size=-1)}, "volume of -1 GiB is not possible"),
    ({"workers_count": -1}, "without workers"),
    ({"ssh_key": "ssh-rsa Schlüssel"}, "is not a public key"),
    ({"ssh_key": "-----BEGIN OPENSSH PRIVATE KEY-----"}, "is not a public key"),
    ({"ssh_key": public_key("ssh-ed25519"), "fips": True}, "type ssh-ed25519; use an RSA or ECDSA key"),
    ({"tags": {"Name": "x"}}, "is not a key of a tag"),
    ({"tags": {"kubernetes.io/cluster/a": "owned"}}, "is not a key of a tag"),
    ({"base_domain": "perf_example.com"}, "is not a base domain"),
    ({"architecture": "arm64", "payload": "amd64"}, "release has machines of amd64 only, not of arm64"),
]
# The installer would misinterpret these, or AWS would refuse them later.
OF_OUR_OWN: list[tuple[dict[str, Any], str]] = [
    ({"base_domain": "example"}, "is not a base domain"),
    ({"region": "US"}, "is not a region of AWS"),
    ({"topology": "huge"}, "unknown topology"),
    ({"workers_count": 0}, "without workers"),
    ({"topology": "single_node", "spot": True}, "cannot be a spot instance"),
    ({"subnets": ("subnet-1",)}, "invalid IDs of subnets"),
    ({"networks": Networks(host_prefix=14)}, "cannot have a /14"),
    ({"workers": Machines(disk_type="gp3")}, "needs a size"),
    ({"workers": Machines(disk_type="st1", disk_size=100)}, "type st1 is not possible"),
    ({"tags": {"owner": "jane doe"}}, "is not a value of tag owner"),
]


@pytest.mark.parametrize(("changes", "message"), [*REFUSED, *OF_OUR_OWN])
def test_invalid_config_is_refused_before_the_installer_starts(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        install_config(replace(PLAN, **changes), PULL_SECRET)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"topology": "light"},
        {"topology": "single_node"},
        {"networks": Networks(machines="100.64.0.0/16", type="Calico")},
        {"fips": True, "ssh_key": public_key("ssh-rsa")},
        {"architecture": "amd64", "payload": "amd64"},
        {"architecture": "amd64", "payload": "multi"},
        {"subnets": (SUBNET,), "hosted_zone": "Z1", "publish": "Internal"},
        *({"workers": Machines(disk_type=kind, disk_size=100)} for kind in ("gp2", "gp3", "standard")),
    ],
)
def test_configs_that_are_not_refused_are_valid_for_the_installer(changes: dict[str, Any]) -> None:
    assert refusals(install_config(replace(PLAN, **changes), PULL_SECRET), fips_host=True) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no JSON", "not JSON with auths"),
        ("[]", "not JSON with auths"),
        ('{"auths": {}}', "not JSON with auths"),
        ('{"auths": {"quay.io": {"email": "a-secret"}}}', r"no credentials \(auth\) for quay.io$"),
    ],
)
def test_pull_secret_without_credentials_is_refused(text: str, message: str) -> None:
    check_pull_secret(PULL_SECRET)
    with pytest.raises(UsageError, match=message):
        check_pull_secret(text)


def test_too_many_tags_are_refused() -> None:
    check_tags({f"tag{number}": "a" for number in range(25)})
    with pytest.raises(UsageError, match="26 tags are more than the 25"):
        check_tags({f"tag{number}": "a" for number in range(26)})
