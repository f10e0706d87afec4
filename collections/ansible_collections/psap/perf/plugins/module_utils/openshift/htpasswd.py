"""Users of an OpenShift with a password: lines of a Secret, and the identity provider that reads it.

Lines, providers and users that were not added here are not changed.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import MANAGED_BY, Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.merging import change_object
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.openshift.identity_providers import (
    OAUTH,
    Provider,
    add,
    find,
    remove,
)

NAMESPACE, PROVIDER, SECRET, KEY = "openshift-config", "htpasswd", "htpasswd-secret", "htpasswd"
# annotation of the Secret: the users that were added here, so that no other is changed or removed
USERS = "psap.perf/users"
_TYPE, _LONGEST_PASSWORD = "HTPasswd", 72
_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._-]{0,62}")
_USERS_VERSION = "user.openshift.io/v1"
_DEFAULT_PROVIDER: Provider = {
    "name": PROVIDER,
    "type": _TYPE,
    "mappingMethod": "claim",
    "htpasswd": {"fileData": {"name": SECRET}},
}


def check_user(name: str) -> str:
    """Return *name* if it is a valid user name.

    Raises:
        UsageError: If it is invalid, or the installer's administrator.
    """
    if not _USER.fullmatch(name) or name == "kubeadmin":
        raise UsageError(
            f"invalid user name {name!r}: use at most 63 letters, digits, @, ., _ and -, and not kubeadmin"
        )
    return name


def binding(user: str) -> Manifest:
    """Return the binding that makes the user an administrator of the cluster."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"psap-perf-admin-{user}", "labels": dict(MANAGED_BY)},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }


def add_admin(cluster: Cluster, user: str, password: str, *, dry: bool = False) -> bool:
    """Add *user* with *password* as an administrator, and return whether this changed the cluster.

    Raises:
        ClusterError: If the cluster has no OAuth, or the provider is of another type.
        UsageError: If another owner's user has this name and another password.
    """
    provider = _provider(cluster)
    secret = _secret_of(provider)
    changed = change_object(cluster, secret, lambda found: with_user(found, secret, user, password), dry=dry)
    changed = add(cluster, provider, dry=dry) or changed
    wanted = binding(user)
    if cluster.get(_of(wanted)) is None:
        changed = True
        if not dry:
            cluster.apply(wanted)
    return changed


def remove_admin(cluster: Cluster, user: str, *, dry: bool = False) -> bool:
    """Remove the objects of :func:`add_admin` for *user*, and the provider with its Secret after the last user.

    Returns:
        Whether this changed the cluster.
    """
    changed = False
    provider = _provider(cluster) if _has_oauth(cluster) else None
    if provider is not None and (found := cluster.get(secret := _secret_of(provider))) is not None:
        if users_of(found) == [user] == list(_lines(found)) and _is_managed(found):
            # the provider first, since the OAuth server does not start if its Secret is missing
            changed = True
            remove(cluster, provider, dry=dry)
            if not dry:
                cluster.delete(secret)
        else:
            changed = change_object(cluster, secret, lambda each: without_user(each, user), dry=dry)
    for query in (_of(binding(user)), *_traces(cluster, user)):
        if cluster.get(query) is not None:
            changed = True
            if not dry:
                cluster.delete(query)
    return changed


def with_user(secret: Manifest | None, query: Query, user: str, password: str) -> Manifest | None:
    """Return the change that adds the user to *secret*, or the Secret to create; None if the user is in it.

    Raises:
        UsageError: If another owner's line of the user has another password.
    """
    lines, added = (_lines(secret), users_of(secret)) if secret else ({}, [])
    if user in lines:
        if _matches(password, lines[user]):
            return None
        if user not in added:
            raise UsageError(
                f"the Secret {query.namespace}/{query.name} has a user {user} of another owner with another password; "
                "choose another name"
            )
    change = _change({**lines, user: _hash(password)}, [*added, *([user] if user not in added else [])])
    if secret is not None:
        return change
    metadata = {"name": query.name, "namespace": query.namespace, "labels": dict(MANAGED_BY), **change["metadata"]}
    return {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata, "data": change["data"]}


def without_user(secret: Manifest | None, user: str) -> Manifest | None:
    """Return the change that removes the line of an added user; None without one."""
    if secret is None or user not in users_of(secret):
        return None
    left = {name: value for name, value in _lines(secret).items() if name != user}
    return _change(left, [name for name in users_of(secret) if name != user])


def users_of(secret: Manifest) -> list[str]:
    """Return the users in a Secret that were added here."""
    annotation = (secret["metadata"].get("annotations") or {}).get(USERS, "")
    return [name for name in annotation.split(",") if name]


def _has_oauth(cluster: Cluster) -> bool:
    return cluster.serves(OAUTH.api_version, OAUTH.kind) and cluster.get(OAUTH) is not None


def _provider(cluster: Cluster) -> Provider:
    """Return the provider of the cluster, or the one to add.

    Raises:
        ClusterError: If the cluster has no OAuth, or the provider is of another type.
    """
    if not _has_oauth(cluster):
        raise ClusterError(
            f"{cluster.server} has no OAuth cluster of config.openshift.io: it is not OpenShift, or its users are "
            "managed outside the cluster"
        )
    return find(cluster, PROVIDER, _TYPE) or _DEFAULT_PROVIDER


def _secret_of(provider: Provider) -> Query:
    name = ((provider.get("htpasswd") or {}).get("fileData") or {}).get("name")
    return Query("v1", "Secret", namespace=NAMESPACE, name=str(name or SECRET))


def _traces(cluster: Cluster, user: str) -> list[Query]:
    """Return the objects that OpenShift created at the user's first login."""
    if not cluster.serves(_USERS_VERSION, "User"):
        return []
    identity = f"{PROVIDER}:{user}"
    found = cluster.get(Query(_USERS_VERSION, "User", name=user))
    traces = [Query(_USERS_VERSION, "Identity", name=identity)]
    if found is not None and set(found.get("identities") or []) <= {identity}:
        traces.append(Query(_USERS_VERSION, "User", name=user))
    return traces


def _of(manifest: Manifest) -> Query:
    return Query(manifest["apiVersion"], manifest["kind"], name=manifest["metadata"]["name"])


def _is_managed(secret: Manifest) -> bool:
    return MANAGED_BY.items() <= (secret["metadata"].get("labels") or {}).items()


def _lines(secret: Manifest) -> dict[str, str]:
    """Return the hash by user, in the order of the file."""
    text = base64.b64decode((secret.get("data") or {}).get(KEY, "")).decode()
    found = (line.strip().partition(":") for line in text.splitlines())
    return {user: hashed for user, colon, hashed in found if colon and not user.startswith("#")}


def _change(lines: dict[str, str], added: list[str]) -> Manifest:
    text = "".join(f"{user}:{hashed}\n" for user, hashed in lines.items())
    return {
        "metadata": {"annotations": {USERS: ",".join(added) or None}},
        "data": {KEY: base64.b64encode(text.encode()).decode()},
    }


def _bcrypt() -> Any:
    try:
        import bcrypt
    except ImportError as error:
        raise UsageError("bcrypt is needed: pip install 'psap-perf[openshift]', or pip install bcrypt") from error
    return bcrypt


def _hash(password: str) -> str:
    if len(password.encode()) > _LONGEST_PASSWORD:
        raise UsageError(f"the password is too long for bcrypt: use at most {_LONGEST_PASSWORD} bytes")
    bcrypt = _bcrypt()
    # Apache's htpasswd calls the same algorithm 2y
    return f"$2y${bcrypt.hashpw(password.encode(), bcrypt.gensalt()).decode().removeprefix('$2b$')}"


def _matches(password: str, hashed: str) -> bool:
    if not hashed.startswith("$2") or len(password.encode()) > _LONGEST_PASSWORD:
        # another algorithm, such as MD5, counts as another password
        return False
    # the library supports 2a and 2b
    return bool(_bcrypt().checkpw(password.encode(), f"$2b${hashed.split('$', 2)[2]}".encode()))
