"""Where a served model is reached, and one question to it over HTTP."""

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
    """A served model does not answer, or not as it should; the message says how."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A base URL in its parts; *path* is empty or begins with a slash and ends with none.

    :param server_name: the name that the certificate of the server must have, where it is not the host's.
    :param place: what users know it by, where it is not its URL.
    """

    scheme: str
    host: str
    port: int
    path: str = ""
    server_name: str = ""
    place: str = ""

    @property
    def url(self) -> str:
        """The whole, without a slash at its end."""
        port = "" if _PORTS[self.scheme] == self.port else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.path}"

    @property
    def shown(self) -> str:
        """What it is called in messages."""
        return self.place or self.url


def endpoint_at(url: str) -> Endpoint:
    """The endpoint of a base URL.

    :raises UsageError: when it is none of HTTP.
    """
    try:
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError("it needs http:// or https:// and a host")
        port = parts.port or _PORTS[parts.scheme]
    except ValueError as error:
        raise UsageError(f"{url!r} is not the address of a served model: {error}") from error
    return Endpoint(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


def endpoint_of(service: Manifest, lab: Mapping[str, str] | None, protocol: str = HTTP) -> Endpoint:
    """Where an InferenceService or LLMInferenceService is reached from here.

    :param lab: what a lab says of itself; None for any other cluster.
    :param protocol: ``http`` or ``grpc``; a cluster's address is that of both.
    :raises ClusterError: when it has no address, or one within the cluster only.
    """
    namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
    url = service.get("status", {}).get("url", "")
    if lab is not None:
        served = lab.get("models-url")
        if not served:
            raise ClusterError("no program of this lab answers for models; create it with `perflab up --with models`")
        if protocol == GRPC:
            return _of_all_models(lab)
        return _through_gateway(url, lab) or endpoint_at(f"{served}/{namespace}/{name}")
    if not url:
        raise ClusterError(
            f"{service['kind']} {namespace}/{name} has no address in its status; is it Ready, and has its Gateway one?"
        )
    found = endpoint_at(url)
    if found.host.endswith((".svc", ".svc.cluster.local")):
        raise ClusterError(
            f"{service['kind']} {namespace}/{name} is reached within the cluster only, at {url}; expose it, "
            "on OpenShift with its label networking.kserve.io/visibility: exposed"
        )
    return found


def _of_all_models(lab: Mapping[str, str]) -> Endpoint:
    """A lab's server of gRPC, which knows a model by its name in the request: a call has no path."""
    if "models-grpc-url" not in lab:
        raise ClusterError(
            "no program of this lab answers by gRPC; pip install 'psap-perf[grpc]', and create it once more with "
            "`perflab up --with models`"
        )
    return endpoint_at(lab["models-grpc-url"])


def _through_gateway(url: str, lab: Mapping[str, str]) -> Endpoint | None:
    """The place of an URL at a lab's gateway, which listens on one port whatever port a Gateway names."""
    if not url or not lab.get("gateway-url"):
        return None
    found, gateway = endpoint_at(url), endpoint_at(lab["gateway-url"])
    return replace(gateway, path=found.path) if found.host == gateway.host else None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said to a prompt, and how many tokens the server counted."""

    text: str
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Caller:
    """How a served model is asked.

    :param patience_s: how many seconds the server may be silent.
    :param authority: file with the certificates of the authority that vouches for the server; the system's if empty.
    :param api_key: the bearer token of requests; none if empty.
    """

    patience_s: float
    authority: str = ""
    api_key: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """What its requests have beside their content."""
        return {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}


def complete(endpoint: Endpoint, model: str, prompt: str, tokens: int, caller: Caller) -> Answer:
    """One completion of OpenAI's API.

    :raises AnswerError: when it is refused, or no completion.
    :raises UsageError: when the file is of no use.
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
        raise AnswerError(f"{endpoint.shown} does not answer: {error or type(error).__name__}") from error
    if answer.status != _OK:
        advice = "; check api_key" if answer.status in _UNAUTHORIZED else ""
        raise AnswerError(f"{endpoint.shown} answers {answer.status} {answer.reason}: {content[:_SHOWN]}{advice}")
    return _checked(endpoint, content)


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
    """Trust in the file of an *authority*; without one, in those of the system.

    :raises UsageError: when the file is of no use.
    """
    try:
        return ssl.create_default_context(cafile=authority or None)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"the certificates in {authority} cannot be used: {error}") from error


def _checked(endpoint: Endpoint, content: str) -> Answer:
    try:
        document: dict[str, Any] = json.loads(content)
        text = document["choices"][0]["text"]
        usage = document["usage"]
        answer = Answer(str(text), int(usage["prompt_tokens"]), int(usage["completion_tokens"]))
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise AnswerError(f"{endpoint.shown}: the answer is no completion: {content[:_SHOWN]}") from error
    return checked(answer, endpoint.shown, content[:_SHOWN])


def checked(answer: Answer, place: str, shown: str) -> Answer:
    """*answer*.

    :raises AnswerError: when it says nothing.
    """
    if not answer.text.strip() or answer.completion_tokens < 1:
        raise AnswerError(f"{place}: the answer is empty: {shown}")
    return answer
