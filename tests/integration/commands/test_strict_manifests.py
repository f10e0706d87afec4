"""Manifests of the commands match the definitions of their kinds: no unknown field, no required field missing.

Every command that applies or submits manifests renders them with its verb, in check mode or for real. An API server
then validates each as `kubectl create --validate=strict --dry-run=server` does. A verb's own dry run only renders
objects whose namespace or definition does not exist yet.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import kubernetes
import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import SHARED_ROLE, read_command

from tests.integration.conftest import PROJECT, Lab
from tests.standins.openshift.entitlements import certificate_and_key

from .conftest import TemporaryProject, temporary_project

pytestmark = pytest.mark.lab

Manifest = dict[str, Any]

ROLES = PROJECT / "collections/ansible_collections/psap/perf/roles"
COMMANDS = yaml.safe_load(Path(__file__).with_name("rendered_commands.yml").read_text())
NAMESPACE = "strict-manifests"
# test_kinds_with_controllers.py submits these on a lab with their controllers
_SUBMITTED = {"JobSet", "LeaderWorkerSet", "TrainJob"}
# kinds that the templates have only for another lab
ELSEWHERE = {
    "openshift": {"TrainingWorkload", "InteractiveWorkload", "DistributedWorkload", *_SUBMITTED},
    "kubernetes": {"Route", "SecurityContextConstraints", "ServiceAccount", "RoleBinding", *_SUBMITTED},
    "kserve": set(),
}
PROFILES = ("openshift", "kubernetes")
LABS = {"openshift": "openshift_lab", "kubernetes": "shared_lab", "kserve": "kserve_lab"}
_APPLIES = re.compile(r"psap\.perf\.(?:apply|scale_test\.submit):\s*\n\s+(?:template|definition):")
_ALREADY_EXISTS = 409
# from the webhook of OpenShift AI, which the API server calls before it checks whether the name exists
_ONLY_ONE = "Only one instance of DataScienceCluster object is allowed"


@dataclass(frozen=True)
class Site:
    """A lab, by its profile or product, and a project to run commands on it."""

    profile: str
    lab: Lab
    project: TemporaryProject
    client: kubernetes.dynamic.DynamicClient

    def commands(self, part: str) -> list[Manifest]:
        """Return the commands in one part of `rendered_commands.yml` for the profile."""
        return [each for each in COMMANDS[part] if self.profile in _labs(each)]

    def play(self, part: str, *options: str) -> None:
        """Run the commands of a part, with options of ansible-playbook."""
        tasks = [
            {
                "name": f"Run {each['role']}",
                "ansible.builtin.include_role": {"name": f"psap.perf.{each['role']}"},
                "vars": arguments_of(each),
            }
            for each in self.commands(part)
        ]
        if tasks:
            self.project.playbook([{"name": "Run the commands", "tasks": tasks}])
            process = self.project.start("-e", f"perf_kubeconfig={self.lab.kubeconfig}", *options)
            output, _ = process.communicate()
            assert process.returncode == 0, output

    def refusal(self, manifest: Manifest) -> str:
        """Return why the API server refuses *manifest*; empty if it accepts it or the object exists already."""
        resource = self.client.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
        metadata = {key: value for key, value in manifest["metadata"].items() if key != "namespace"}
        body = {**manifest, "metadata": {**metadata, **({"namespace": NAMESPACE} if resource.namespaced else {})}}
        strict = [("fieldValidation", "Strict"), ("dryRun", "All")]
        try:
            self.client.create(resource, body=body, namespace=NAMESPACE, query_params=strict)
        except kubernetes.dynamic.exceptions.DynamicApiError as error:
            message = json.loads(error.body)["message"]
            if error.status != _ALREADY_EXISTS and _ONLY_ONE not in message:
                return f"{manifest['kind']} {metadata['name']}: {message}"
        return ""


# the manifests for plain Kubernetes differ in few kinds
SITES = [pytest.param(name, marks=[pytest.mark.deep] if name == "kubernetes" else []) for name in LABS]


@pytest.fixture(scope="module", params=SITES)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    lab: Lab = request.getfixturevalue(LABS[request.param])
    project = temporary_project(tmp_path_factory.mktemp(request.param))
    with kubernetes.config.new_client_from_config(str(lab.kubeconfig)) as api:
        core = kubernetes.client.CoreV1Api(api)
        core.create_namespace({"metadata": {"name": NAMESPACE}})
        made = Site(request.param, lab, project, kubernetes.dynamic.DynamicClient(api))
        yield made
        made.play("removed")
        core.delete_namespace(NAMESPACE)


def manifests(site: Site) -> dict[str, list[Manifest]]:
    """Return the manifests that the commands rendered, by role."""
    found: dict[str, list[Manifest]] = defaultdict(list)
    for path in sorted(site.project.root.glob("runs/*/**/src/*.y*ml")):
        # nnn__group__command/src/file
        role = path.parent.parent.name.partition("__")[2].replace("__", "_")
        found[role] += [without_secrets(item) for item in yaml.safe_load_all(path.read_text()) if item]
    return found


def examples(site: Site) -> list[Manifest]:
    """Return the examples that the installed operators offer for their kinds."""
    if site.profile != "openshift":
        return []
    versions = site.client.resources.get(api_version="operators.coreos.com/v1alpha1", kind="ClusterServiceVersion")
    found = site.client.get(versions).to_dict()["items"]
    return [item for each in found for item in json.loads(each["metadata"]["annotations"].get("alm-examples", "[]"))]


def without_secrets(manifest: Manifest) -> Manifest:
    """Return *manifest* without the values of a Secret, which are replaced in the kept file."""
    return {key: value for key, value in manifest.items() if manifest["kind"] != "Secret" or key != "data"}


def test_every_manifest_passes_strict_validation(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRICT_SECRET", "a-secret")
    now = datetime.now(UTC)
    entitlement = certificate_and_key(now - timedelta(days=1), now + timedelta(days=1))
    monkeypatch.setenv("STRICT_ENTITLEMENT", "".join(entitlement))
    site.play("installed")
    site.play("rendered", "--check")
    found = manifests(site)
    refusals = {role: [text for item in items if (text := site.refusal(item))] for role, items in found.items()}
    refusals["alm-examples"] = [text for item in examples(site) if (text := site.refusal(item))]
    assert not {role: texts for role, texts in refusals.items() if texts}
    rendered = {each["role"] for part in ("installed", "rendered") for each in site.commands(part)}
    assert not {role for role in rendered & appliers() if not found[role]}, "rendered nothing"
    elsewhere = ELSEWHERE[site.profile]
    missing = {
        role: wanted - elsewhere - {item["kind"] for item in found[role]}
        for role, wanted in kinds_of_templates(rendered)
    }
    assert not {role: kinds for role, kinds in missing.items() if kinds}, "of their templates, not rendered"


def _labs(command: Manifest) -> tuple[str, ...]:
    """Return the labs on which the command is rendered."""
    return (command["lab"],) if "lab" in command else PROFILES


def arguments_of(command: Manifest) -> Manifest:
    """Return the variables of a command's arguments; a shared role declares some of them."""
    spec = read_command(ROLES / command["role"], ROLES)
    given = command.get("arguments", {})
    return {each.name: given[each.short_name] for each in spec.arguments if each.short_name in given}


def appliers() -> set[str]:
    """Return the commands that apply a template or a definition."""
    tasks = [path for path in ROLES.glob("*/tasks/*.yml") if _APPLIES.search(path.read_text())]
    roles = {path.parts[-3] for path in tasks}
    return {role for role in roles if not role.startswith(SHARED_ROLE)}


def kinds_of_templates(roles: set[str]) -> Iterator[tuple[str, set[str]]]:
    """Return the kinds in the templates of *roles*."""
    for role in sorted(roles):
        texts = [path.read_text() for path in ROLES.glob(f"{role}/templates/*.yml.j2")]
        yield role, {kind for text in texts for kind in re.findall(r"^kind: (\w+)$", text, re.MULTILINE)}


def test_every_command_that_applies_manifests_is_tested() -> None:
    listed = {each["role"] for part in ("installed", "rendered") for each in COMMANDS[part]}
    assert appliers() - listed == {"rhods_undeploy_ods"}, "it is run at the end, when its ConfigMap has been validated"
