"""Runs of pipelines: each is a Workflow of Argo, created, read and ended by the API server of the lab."""

from __future__ import annotations

from urllib.parse import quote

from perflab.cluster.api import Api, Document
from perflab.serving.pipelines.compiling import APPLICATION, RUN_ID, RUN_NAME

_STATES = {"Succeeded": "SUCCEEDED", "Failed": "FAILED", "Error": "FAILED", "Running": "RUNNING"}


def _path(namespace: str, name: str = "") -> str:
    return f"/apis/argoproj.io/v1alpha1/namespaces/{namespace}/workflows" + (f"/{name}" if name else "")


async def create(api: Api, workflow: Document) -> Document:
    """Create the Workflow of a run and return it."""
    return await api.create(_path(workflow["metadata"]["namespace"]), workflow) or workflow


async def of_application(api: Api, place: tuple[str, str], run_id: str = "") -> list[Document]:
    """Return the Workflows of the runs of an application, or of one run."""
    namespace, application = place
    selector = f"{RUN_ID}={run_id}" if run_id else f"{APPLICATION}={application}"
    found = await api.list(f"{_path(namespace)}?labelSelector={quote(selector)}")
    own = [each for each in found if each["metadata"]["labels"].get(APPLICATION) == application]
    return sorted(own, key=lambda each: str(each["metadata"]["creationTimestamp"]))


async def end(api: Api, workflow: Document) -> None:
    """End a run: its Workflow starts no further steps, and its pods end."""
    metadata = workflow["metadata"]
    await api.patch(_path(metadata["namespace"], metadata["name"]), {"spec": {"shutdown": "Terminate"}})


async def delete(api: Api, workflow: Document) -> None:
    """Delete the Workflow of a run."""
    await api.delete(_path(workflow["metadata"]["namespace"], workflow["metadata"]["name"]))


def shown(workflow: Document) -> Document:
    """Return a run in the format of the API."""
    metadata, status = workflow["metadata"], workflow.get("status") or {}
    ended = status.get("finishedAt")
    return {
        "run_id": metadata["labels"][RUN_ID],
        "display_name": metadata["annotations"][RUN_NAME],
        "storage_state": "AVAILABLE",
        "service_account": workflow["spec"].get("serviceAccountName", ""),
        "created_at": metadata.get("creationTimestamp"),
        "scheduled_at": metadata.get("creationTimestamp"),
        "state": _state(workflow),
        **({"finished_at": ended} if ended else {}),
        **({"error": {"code": 13, "message": status.get("message", "")}} if _state(workflow) == "FAILED" else {}),
    }


def _state(workflow: Document) -> str:
    state = _STATES.get((workflow.get("status") or {}).get("phase", ""), "PENDING")
    if workflow["spec"].get("shutdown"):
        return "CANCELED" if state == "FAILED" else state if state == "SUCCEEDED" else "CANCELING"
    return state
