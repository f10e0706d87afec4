"""Which DataScienceClusters the operator's validating webhooks refuse.

After internal/webhook/datasciencecluster of rhods-operator, branches rhoai-2.25, rhoai-3.3 and rhoai-3.4.
"""

from __future__ import annotations

from collections.abc import Iterable

from perflab.cluster.api import Document
from perflab.emulators.operators.rhoai_webhooks.conversion import only_v2


def respond(request: Document, present: Iterable[Document], version: tuple[int, ...]) -> Document:
    """Return the response to the request of an AdmissionReview.

    Args:
        request: Creates or updates a DataScienceCluster.
        present: The DataScienceClusters of the cluster, in the stored version.
        version: Of the operator.
    """
    refusal = _refusal(request, {each["metadata"]["name"]: each for each in present}, version)
    denied = {"status": {"message": refusal, "code": 403, "reason": "Forbidden"}} if refusal else {}
    return {"uid": request["uid"], "allowed": not refusal, **denied}


def _refusal(request: Document, present: dict[str, Document], version: tuple[int, ...]) -> str:
    refuses_more = version >= (3, 4)
    if refuses_more and _state(request["object"], "kueue") == "Managed":
        return "Managed is no longer supported as a managementState"
    if request["operation"] == "CREATE":
        return "Only one instance of DataScienceCluster object is allowed" if present else ""
    current = present.get(request["name"])
    if not refuses_more or request["kind"]["version"] != "v1" or current is None:
        return ""
    managed = [name for name in only_v2(version) if _state(current, name) == "Managed"]
    return (
        f"cannot modify DataScienceCluster using v1 API: v2-only components are currently Managed: "
        f"[{', '.join(managed)}]. Use the v2 API instead, or first disable v2-only components via v2 API."
        if managed
        else ""
    )


def _state(cluster: Document, component: str) -> str:
    components = (cluster.get("spec") or {}).get("components") or {}
    return str((components.get(component) or {}).get("managementState") or "")
