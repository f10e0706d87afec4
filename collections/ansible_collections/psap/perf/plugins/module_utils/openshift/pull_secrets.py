"""Add credentials of registries to a cluster's pull secret, and remove only these again."""

from __future__ import annotations

import base64
import json
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

DOCUMENT = ".dockerconfigjson"
# annotation of the Secret: the registries that were added here, so that no other credentials are removed
ADDED = "psap.perf/added-registries"

Credentials = dict[str, Any]


def credentials_in(text: str) -> Credentials:
    """Return the credentials by registry of a Docker configuration.

    Raises:
        UsageError: If *text* is invalid; the message does not contain it.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UsageError("the pull secret is not JSON; pass a Docker configuration, {auths: {registry: …}}") from error
    found = document.get("auths") if isinstance(document, dict) else None
    if not isinstance(found, dict) or not found:
        raise UsageError("the pull secret has no auths; pass a Docker configuration, {auths: {registry: …}}")
    return found


def with_credentials(secret: Manifest, wanted: Credentials) -> Manifest | None:
    """Return the change that adds *wanted* to *secret*; None if it has all of them.

    Raises:
        ClusterError: If the content of the Secret is invalid.
    """
    present = _present(secret)
    if all(present.get(registry) == entry for registry, entry in wanted.items()):
        return None
    added = {*added_registries(secret), *(wanted.keys() - present.keys())}
    return _change({**present, **wanted}, added)


def without_credentials(secret: Manifest) -> Manifest | None:
    """Return the change that removes the added credentials from *secret*; None without any."""
    added = added_registries(secret)
    if not added:
        return None
    return _change({name: entry for name, entry in _present(secret).items() if name not in added}, set())


def added_registries(secret: Manifest) -> list[str]:
    """Return the registries whose credentials were added here."""
    annotation = (secret["metadata"].get("annotations") or {}).get(ADDED, "")
    return [name for name in annotation.split(",") if name]


def _present(secret: Manifest) -> Credentials:
    encoded = (secret.get("data") or {}).get(DOCUMENT, "")
    if not encoded:
        return {}
    try:
        return dict(json.loads(base64.b64decode(encoded)).get("auths") or {})
    except (ValueError, AttributeError) as error:
        # do not overwrite invalid content
        raise ClusterError(f"{secret['metadata'].get('name')}: {DOCUMENT} is not a Docker configuration") from error


def _change(credentials: Credentials, added: set[str]) -> Manifest:
    document = json.dumps({"auths": credentials}, sort_keys=True)
    return {
        "metadata": {"annotations": {ADDED: ",".join(sorted(added)) or None}},
        "data": {DOCUMENT: base64.b64encode(document.encode()).decode()},
    }
