"""The endpoint of a served model, and one request to it over HTTP."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

_OK = 200
_UNAUTHORIZED = (401, 403)
_SHOWN = 300
HTTP, GRPC = "http", "grpc"
_PORTS = {"http": 80, "https": 443}


class AnswerError(PerfError):
    """A served model does not respond, or its answer is invalid."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A base URL in its parts; *path* is empty, or begins but does not end with a slash.

    Attributes:
        server_name: The name in the server's certificate, if it is not the host's.
        place: Its name in messages, if it is not its URL.
    """

    scheme: str
    host: str
    port: int
    path: str = ""
    server_name: str = ""
    place: str = ""

    @property
    def url(self) -> str:
        """The URL, without a slash at its end."""
        port = "" if _PORTS[self.scheme] == self.port else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.path}"

    @property
    def shown(self) -> str:
        """Its name in messages."""
        return self.place or self.url


def endpoint_at(url: str) -> Endpoint:
    """Return the endpoint of a base URL.

    Raises:
        UsageError: If it is not an HTTP URL.
    """
    try:
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError("it needs http:// or https:// and a host")
        port = parts.port or _PORTS[parts.scheme]
    except ValueError as error:
        raise UsageError(f"{url!r} is not the address of a served model: {error}") from error
    return Endpoint(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


def endpoint_of(
    service: Manifest, lab: Mapping[str, str] | None, protocol: str = HTTP, *, in_pod: bool = False
) -> Endpoint:
    """Return the endpoint of an InferenceService or LLMInferenceService for this machine.

    Args:
        lab: The description of a lab; None for any other cluster.
        protocol: ``http`` or ``grpc``; a cluster has the same address for both.
        in_pod: Whether this machine is a pod of the cluster.

    Raises:
        ClusterError: If it has no address, or, outside of the cluster, only one within the cluster.
    """
    namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
    url = service.get("status", {}).get("url", "")
    if lab is not None:
        if in_pod:
            raise ClusterError(
                f"pods of a lab cannot reach the simulated model {namespace}/{name}; "
                "serve models on the real node, or check no answers"
            )
        served = lab.get("models-url")
        if not served:
            raise ClusterError("this lab has no server for models; create it with `perflab up --with models`")
        if protocol == GRPC:
            return _of_all_models(lab)
        return through_gateway(url, lab) or endpoint_at(f"{served}/{namespace}/{name}")
    if not url:
        raise ClusterError(f"{service['kind']} {namespace}/{name} has no address in its status; check its Gateway")
    found = endpoint_at(url)
    if not in_pod and found.host.endswith((".svc", ".svc.cluster.local")):
        raise ClusterError(
            f"{service['kind']} {namespace}/{name} is reachable only within the cluster, at {url}; expose it, "
            "on OpenShift with its label networking.kserve.io/visibility: exposed"
        )
    return found


def endpoint_within(service: Manifest) -> Endpoint:
    """Return the endpoint of an InferenceService or LLMInferenceService for pods of its cluster.

    Raises:
        ClusterError: If its status has no such address.
    """
    namespace, name, status = service["metadata"]["namespace"], service["metadata"]["name"], service.get("status", {})
    url = (status.get("address") or {}).get("url")
    if not url:
        raise ClusterError(f"{service['kind']} {namespace}/{name} has no address for pods in its status")
    return endpoint_at(url)


def _of_all_models(lab: Mapping[str, str]) -> Endpoint:
    """Return a lab's gRPC server, which finds a model by its name in the request: a call has no path."""
    if "models-grpc-url" not in lab:
        raise ClusterError(
            "this lab has no gRPC server; pip install 'psap-perf[grpc]', and create it again with "
            "`perflab up --with models`"
        )
    return endpoint_at(lab["models-grpc-url"])


def through_gateway(url: str, lab: Mapping[str, str]) -> Endpoint | None:
    """Return the endpoint of a URL at a lab's gateway, which listens on one port for all Gateways."""
    if not url or not lab.get("gateway-url"):
        return None
    found, gateway = endpoint_at(url), endpoint_at(lab["gateway-url"])
    return replace(gateway, path=found.path) if found.host == gateway.host else None


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer to a prompt, and the server's numbers of tokens."""

    text: str
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Caller:
    """The options of requests to a served model.

    Attributes:
        patience_s: How many seconds to wait for a response.
        authority: File with the certificates of the server's authority; the system's if empty.
        api_key: The bearer token of requests; none if empty.
    """

    patience_s: float
    authority: str = ""
    api_key: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of its requests."""
        return {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}


def complete(endpoint: Endpoint, model: str, prompt: str, tokens: int, caller: Caller) -> Answer:
    """Return one completion, with OpenAI's API.

    Raises:
        AnswerError: If it is refused, or is not a completion.
        UsageError: If the file cannot be used.
    """
    body = json.dumps({"model": model, "prompt": prompt, "max_tokens": tokens})
    path, headers = f"{endpoint.path}/v1/completions", {"Content-Type": "application/json", **caller.headers}
    try:
        with closing(_connection(endpoint, caller)) as client:
            client.request("POST", path, body=body, headers=headers)
            answer = client.getresponse()
            content = answer.read().decode("utf-8", "replace")
    except ssl.SSLCertVerificationError as error:
        raise AnswerError(f"{endpoint.shown}: its certificate is not trusted: {error.verify_message}") from error
    except (OSError, http.client.HTTPException) as error:
        raise AnswerError(f"{endpoint.shown} does not respond: {error or type(error).__name__}") from error
    if answer.status != _OK:
        advice = "; check api_key" if answer.status in _UNAUTHORIZED else ""
        raise AnswerError(f"{endpoint.shown} responds with {answer.status} {answer.reason}: {content[:_SHOWN]}{advice}")
    return _parse_answer(endpoint, content)


def _connection(endpoint: Endpoint, caller: Caller) -> http.client.HTTPConnection:
    timeout_s = caller.patience_s
    if endpoint.scheme == "http":
        return http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=timeout_s)
    context = certificates(caller.authority)
    client = http.client.HTTPSConnection(endpoint.host, endpoint.port, timeout=timeout_s, context=context)
    if endpoint.server_name:
        client.sock = context.wrap_socket(
            socket.create_connection((endpoint.host, endpoint.port), timeout_s), server_hostname=endpoint.server_name
        )
    return client


def certificates(authority: str) -> ssl.SSLContext:
    """Return a context that trusts the certificates in the file *authority*, or the system's if it is empty.

    Raises:
        UsageError: If the file cannot be used.
    """
    try:
        return ssl.create_default_context(cafile=authority or None)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"cannot use the certificates in {authority}: {error}") from error


def _parse_answer(endpoint: Endpoint, content: str) -> Answer:
    try:
        document: dict[str, Any] = json.loads(content)
        text = document["choices"][0]["text"]
        usage = document["usage"]
        answer = Answer(str(text), int(usage["prompt_tokens"]), int(usage["completion_tokens"]))
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise AnswerError(f"{endpoint.shown}: the answer is not a completion: {content[:_SHOWN]}") from error
    return refuse_empty(answer, endpoint.shown, content[:_SHOWN])


def refuse_empty(answer: Answer, place: str, shown: str) -> Answer:
    """Return *answer* if it has text.

    Raises:
        AnswerError: If its text is empty.
    """
    if not answer.text.strip() or answer.completion_tokens < 1:
        raise AnswerError(f"{place}: the answer is empty: {shown}")
    return answer
