"""Who may call the API of an application: as the proxy in front of it asks, the API server decides."""

from __future__ import annotations

from dataclasses import dataclass

from perflab.cluster.api import Api, Document

GROUP = "datasciencepipelinesapplications.opendatahub.io"
PLURAL = "datasciencepipelinesapplications"
_VERBS = {"GET": "get", "POST": "create", "DELETE": "delete"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, with its status of HTTP."""

    status: int
    reason: str


async def refusal(api: Api, authorization: str, method: str, place: tuple[str, str]) -> Refusal | None:
    """Return why a request to the API of an application, *place*, is refused; None if it is not."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token:
        return Refusal(401, "the request has no bearer token")
    user = await _user(api, token.strip())
    if user is None:
        return Refusal(401, "the bearer token is not valid")
    if not await _is_allowed(api, user, _VERBS.get(method, "update"), place):
        namespace, application = place
        return Refusal(403, f"{user['username']} may not access the API of {namespace}/{application}")
    return None


async def _user(api: Api, token: str) -> Document | None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    answer = await api.create("/apis/authentication.k8s.io/v1/tokenreviews", review) or {}
    status: Document = answer.get("status") or {}
    return status["user"] if status.get("authenticated") else None


async def _is_allowed(api: Api, user: Document, verb: str, place: tuple[str, str]) -> bool:
    namespace, application = place
    attributes = {
        "namespace": namespace,
        "name": application,
        "group": GROUP,
        "resource": PLURAL,
        "subresource": "api",
        "verb": verb,
    }
    groups = user.get("groups") or []
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user["username"], "groups": groups, "resourceAttributes": attributes},
    }
    answer = await api.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review) or {}
    return bool((answer.get("status") or {}).get("allowed"))
