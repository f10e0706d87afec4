"""Users who log in with a password are added and removed without changing others."""

from __future__ import annotations

import base64
import copy
from collections.abc import Callable
from typing import Any, cast

import bcrypt
import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import ConflictError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.openshift.htpasswd import add_admin, check_user, remove_admin

pytestmark = pytest.mark.slow

GITHUB = {"name": "github", "type": "GitHub", "mappingMethod": "claim", "github": {"clientID": "1"}}
# Hash of the password "theirs-and-theirs" by Apache's htpasswd -B
THEIR_LINE = f"jim:$2y${bcrypt.hashpw(b'theirs-and-theirs', bcrypt.gensalt(4)).decode()[4:]}"


class OpenShift:
    """A cluster in memory that counts its versions; another client runs *meanwhile* before the next change."""

    server = "https://api.invalid"

    def __init__(self, providers: list[Any] | None = None, *, served: tuple[str, ...] = ("OAuth",)) -> None:
        self.objects: dict[tuple[str, str], Manifest] = {}
        self.served, self.version = served, 0
        self.meanwhile: list[Callable[[OpenShift], None]] = []
        if "OAuth" in served:
            self.put({"kind": "OAuth", "metadata": {"name": "cluster"}, "spec": {"identityProviders": providers or []}})
        self.before = copy.deepcopy(self.objects)

    def cluster(self) -> Cluster:
        return cast(Cluster, self)

    def put(self, manifest: Manifest) -> None:
        self.version += 1
        manifest["metadata"]["resourceVersion"] = str(self.version)
        self.objects[manifest["kind"], manifest["metadata"]["name"]] = manifest

    def secret(self, name: str, *lines: str) -> None:
        text = base64.b64encode("\n".join(lines).encode()).decode()
        self.put({"kind": "Secret", "metadata": {"name": name}, "data": {"htpasswd": text}})

    def lines(self, name: str = "htpasswd-secret") -> dict[str, str]:
        text = base64.b64decode(self.objects["Secret", name]["data"]["htpasswd"]).decode()
        return dict(line.split(":", 1) for line in text.splitlines())

    @property
    def providers(self) -> list[str]:
        found = self.objects["OAuth", "cluster"]["spec"].get("identityProviders") or []
        return [each["name"] for each in found]

    def serves(self, _version: str, kind: str) -> bool:
        return kind in self.served

    def get(self, query: Query) -> Manifest | None:
        return copy.deepcopy(self.objects.get((query.kind, query.name or "")))

    def create(self, manifest: Manifest) -> Manifest:
        if (manifest["kind"], manifest["metadata"]["name"]) in self.objects:
            raise ConflictError("it is there")
        self.put(manifest)
        return manifest

    apply = create

    def merge(self, query: Query, patch: Manifest) -> Manifest:
        if self.meanwhile:
            self.meanwhile.pop(0)(self)
        found = self.objects[query.kind, query.name or ""]
        if found["metadata"]["resourceVersion"] != patch["metadata"]["resourceVersion"]:
            raise ConflictError("it has changed")
        merged: Manifest = _merge(found, patch)
        self.put(merged)
        return merged

    def delete(self, query: Query) -> bool:
        return self.objects.pop((query.kind, query.name or ""), None) is not None


def _merge(document: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    changed: Any = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            changed.pop(key, None)
        else:
            changed[key] = _merge(changed.get(key), value)
    return changed


def test_administrator_is_added_once_next_to_other_providers() -> None:
    openshift = OpenShift([GITHUB])

    assert add_admin(openshift.cluster(), "jane", "a-password")

    hashed = openshift.lines()["jane"]
    assert hashed.startswith("$2y$")
    assert bcrypt.checkpw(b"a-password", f"$2b${hashed[4:]}".encode())
    assert openshift.providers == ["github", "htpasswd"]
    binding = openshift.objects["ClusterRoleBinding", "psap-perf-admin-jane"]
    assert (binding["roleRef"]["name"], binding["subjects"][0]["name"]) == ("cluster-admin", "jane")
    assert not add_admin(openshift.cluster(), "jane", "a-password")


def test_removal_keeps_former_providers() -> None:
    openshift = OpenShift([GITHUB])
    add_admin(openshift.cluster(), "jane", "a-password")

    assert remove_admin(openshift.cluster(), "jane")

    assert openshift.objects.keys() == openshift.before.keys()
    assert openshift.providers == ["github"]
    assert not remove_admin(openshift.cluster(), "jane")


def test_new_password_replaces_the_former_one() -> None:
    openshift = OpenShift()
    add_admin(openshift.cluster(), "jane", "a-password")

    assert add_admin(openshift.cluster(), "jane", "another-one")

    assert bcrypt.checkpw(b"another-one", f"$2b${openshift.lines()['jane'][4:]}".encode())


def test_foreign_users_in_the_secret_are_kept() -> None:
    theirs = {"name": "htpasswd", "type": "HTPasswd", "htpasswd": {"fileData": {"name": "their-secret"}}}
    openshift = OpenShift([theirs])
    openshift.secret("their-secret", "# by hand", THEIR_LINE)

    assert add_admin(openshift.cluster(), "jane", "a-password")
    with pytest.raises(UsageError, match="the Secret openshift-config/their-secret has a user jim"):
        add_admin(openshift.cluster(), "jim", "a-password")
    # For an existing user with this password, only the rights are ours.
    assert add_admin(openshift.cluster(), "jim", "theirs-and-theirs")
    for user in ("jane", "jim"):
        assert remove_admin(openshift.cluster(), user)

    assert [f"{user}:{hashed}" for user, hashed in openshift.lines("their-secret").items()] == [THEIR_LINE]
    assert openshift.providers == ["htpasswd"]


def test_provider_stays_while_it_has_users() -> None:
    openshift = OpenShift()
    for user in ("jane", "joe"):
        add_admin(openshift.cluster(), user, "a-password")

    assert remove_admin(openshift.cluster(), "jane")

    assert list(openshift.lines()) == ["joe"]
    assert openshift.providers == ["htpasswd"]


def test_provider_added_concurrently_is_not_lost() -> None:
    def adds(openshift: OpenShift) -> None:
        openshift.put(
            {"kind": "OAuth", "metadata": {"name": "cluster"}, "spec": {"identityProviders": [copy.deepcopy(GITHUB)]}}
        )

    openshift = OpenShift()
    openshift.meanwhile.append(adds)

    assert add_admin(openshift.cluster(), "jane", "a-password")
    assert openshift.providers == ["github", "htpasswd"]


def test_login_objects_of_openshift_go_with_the_user() -> None:
    openshift = OpenShift(served=("OAuth", "User"))
    add_admin(openshift.cluster(), "jane", "a-password")
    openshift.put({"kind": "User", "metadata": {"name": "jane"}, "identities": ["htpasswd:jane"]})
    openshift.put({"kind": "Identity", "metadata": {"name": "htpasswd:jane"}})

    assert remove_admin(openshift.cluster(), "jane")

    assert openshift.objects.keys() == openshift.before.keys()


def test_check_mode_shows_changes_without_making_them() -> None:
    openshift = OpenShift([GITHUB])

    assert add_admin(openshift.cluster(), "jane", "a-password", dry=True)
    assert openshift.objects == openshift.before
    add_admin(openshift.cluster(), "jane", "a-password")
    there = copy.deepcopy(openshift.objects)
    assert remove_admin(openshift.cluster(), "jane", dry=True)
    assert openshift.objects == there


@pytest.mark.parametrize(
    ("openshift", "password", "message"),
    [
        (OpenShift(served=()), "a-password", "https://api.invalid has no OAuth cluster"),
        (OpenShift([{**GITHUB, "name": "htpasswd"}]), "a-password", "is of type GitHub, not HTPasswd"),
        (OpenShift(), "é" * 40, "use at most 72 bytes"),
    ],
)
def test_invalid_arguments_are_refused(openshift: OpenShift, password: str, message: str) -> None:
    with pytest.raises((ClusterError, UsageError), match=message):
        add_admin(openshift.cluster(), "jane", password)
    assert openshift.objects == openshift.before


@pytest.mark.parametrize("name", ["kubeadmin", "", "a:b", "-a", "a b", "ü"])
def test_invalid_user_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="invalid user name"):
        check_user(name)
