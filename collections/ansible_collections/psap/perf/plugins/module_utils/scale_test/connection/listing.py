"""Lists of any length, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient

METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_GONE = 410
_PAGE = "500"


async def pages(
    client: ApiClient, path: str, selector: str | None = None, accept: str | None = None, fields: str | None = None
) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the objects of the collection at *path* that the label *selector* and the field selector *fields* match.

    Changes during the listing may be included or not: after the expiry of a continuation token, the token of the
    server's refusal continues at the same name in the present objects.

    Raises:
        ClusterError: If the server does not list them.
    """
    selectors = {"labelSelector": selector, "fieldSelector": fields}
    parameters = {"limit": _PAGE, **{name: value for name, value in selectors.items() if value}}
    while True:
        answer = await client.request("GET", path, params=parameters, accept=accept)
        page = answer.document()
        token = (page.get("metadata") or {}).get("continue")
        if answer.succeeded:
            yield page.get("items") or []
        elif answer.status != _GONE or not token:
            raise ClusterError(f"cannot list {path}: {answer.message()}")
        if not token:
            return
        parameters["continue"] = token
