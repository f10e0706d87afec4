"""The connection to a cluster: objects are plain dictionaries, and the kubernetes client's dynamic API sends them."""

from __future__ import annotations

import datetime
import email.utils
import json
from collections.abc import Callable, Iterator
from typing import Any

import kubernetes
import kubernetes.client
import kubernetes.dynamic
import kubernetes.dynamic.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import (
    DeniedError,
    ErrorReporter,
    ForbiddenError,
    NotFoundError,
    UnknownKindError,
    check_lifetime,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.kinds_by_version import KindsByVersion
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import group_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.outage import Outage, UnavailableError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access, connect

FIELD_MANAGER = "psap.perf"
LAB_CONFIG_MAP = ("kube-system", "perflab")
_REQUEST_TIMEOUT_S = (10, 60)
_CHUNK_BYTES = 1 << 16


class Cluster:
    """A connection to one cluster. Open it in the process that uses it: connections do not survive a fork.

    Each request raises ClusterError if the cluster cannot be reached, refuses it, or does not serve the kind.
    """

    def __init__(
        self,
        access: Access,
        outage: Outage | None = None,
        request_timeout_s: tuple[float, float] = _REQUEST_TIMEOUT_S,
    ) -> None:
        """Connect to the API server.

        Args:
            outage: How long to repeat requests while the cluster does not answer; None does not repeat them.
            request_timeout_s: Limits for opening a connection, and for a part of a response.
        """
        self.access = access
        self.outage = outage or Outage()
        self._endpoint = access.endpoint(self.outage.check)
        self._errors = ErrorReporter(access, self._endpoint)
        self._api = connect(self._endpoint)
        self._client = kubernetes.dynamic.DynamicClient(self._api, discoverer=KindsByVersion)
        self._date: str | None = None
        self._request_timeout_s = request_timeout_s

    @property
    def server(self) -> str:
        """The API server's address."""
        return str(self._api.configuration.host)

    @property
    def proxy(self) -> str | None:
        """The URL of the proxy to the API server; None without a proxy."""
        return self._endpoint.proxy

    def now(self) -> datetime.datetime:
        """Return the API server's time of its last response, to the second; this machine's if it sent none."""
        if self._date is None:
            return datetime.datetime.now(datetime.UTC)
        return email.utils.parsedate_to_datetime(self._date)

    def version(self) -> str:
        """Return the server's version, for example ``v1.36.3``."""
        api = kubernetes.client.VersionApi(self._api)
        code = self._answer("asking for the version", lambda: api.get_code(_request_timeout=self._request_timeout_s))
        return str(code.git_version)

    def uid(self) -> str | None:
        """Return the uid of namespace kube-system, which identifies a cluster; None if the user may not read it."""
        found = self._readable(Query("v1", "Namespace", name="kube-system"))
        return str(found["metadata"]["uid"]) if found else None

    def lab(self) -> dict[str, str] | None:
        """Return the lab's description, which every user may read; None on a real cluster."""
        found = self._readable(Query("v1", "ConfigMap", *LAB_CONFIG_MAP))
        return dict(found.get("data") or {}) if found else None

    def is_visible(self, query: Query) -> bool:
        """Return whether the object that *query* names exists and the user may read it."""
        return self._readable(query) is not None

    def visible(self, query: Query) -> list[Manifest]:
        """Return the objects that *query* selects; none if the user may not list them."""
        try:
            return self.list(query)[0]
        except ForbiddenError:
            return []

    def _readable(self, query: Query) -> Manifest | None:
        try:
            return self.get(query)
        except ForbiddenError:
            return None

    def may(self, verb: str, query: Query, resource: str | None = None) -> bool:
        """Return whether the user may do *verb*, such as ``create``, with the objects of *query*.

        Args:
            resource: Name of the kind in URLs, required for a kind that is not served; or with a subresource, such as
                ``pods/exec``.
        """
        name, _slash, subresource = (resource or self._resource(query.api_version, query.kind).name).partition("/")
        attributes = {
            "verb": verb,
            "group": group_of(query.api_version),
            "resource": name,
            "subresource": subresource,
            "namespace": query.namespace,
            "name": query.name,
        }
        create = kubernetes.client.AuthorizationV1Api(self._api).create_self_subject_access_review
        body = {"spec": {"resourceAttributes": {name: value for name, value in attributes.items() if value}}}
        answer = self._answer(
            f"asking whether we may {verb} {query}", lambda: create(body, _request_timeout=self._request_timeout_s)
        )
        return bool(answer.status.allowed)

    def serves(self, api_version: str, kind: str) -> bool:
        """Return whether the cluster serves *kind* in *api_version*, or in any version of a group."""
        try:
            self._resource(api_version, kind)
        except UnknownKindError:
            return False
        return True

    def is_openshift(self) -> bool:
        """Return whether the cluster is an OpenShift, which assigns user ids and has routes."""
        return self.serves("config.openshift.io/v1", "ClusterVersion")

    def is_namespaced(self, api_version: str, kind: str) -> bool:
        """Return whether the kind is namespaced."""
        return bool(self._resource(api_version, kind).namespaced)

    def resource_name(self, api_version: str, kind: str) -> str:
        """Return the name of the kind in URLs, such as ``pods``."""
        return str(self._resource(api_version, kind).name)

    def get(self, query: Query) -> Manifest | None:
        """Return the object that *query* names, or None."""
        try:
            return self._call(query.api_version, query.kind, "get", name=query.name, namespace=query.namespace)
        except NotFoundError:
            return None

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        """Return the objects that *query* selects, with their kind, and the list's resourceVersion."""
        answer = self._call(
            query.api_version,
            query.kind,
            "get",
            namespace=query.namespace,
            label_selector=query.label_selector,
            field_selector=f"metadata.name={query.name}" if query.name else query.field_selector,
        )
        served = self._resource(query.api_version, query.kind)
        kind = {"apiVersion": served.group_version, "kind": query.kind}
        return [{**kind, **item} for item in answer["items"]], str(answer["metadata"].get("resourceVersion", ""))

    def table(self, query: Query) -> Manifest:
        """Return the server's table of the objects that *query* selects: ``columnDefinitions`` and ``rows``."""
        return self._call(
            query.api_version,
            query.kind,
            "get",
            namespace=query.namespace,
            label_selector=query.label_selector,
            field_selector=f"metadata.name={query.name}" if query.name else query.field_selector,
            header_params={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"},
        )

    def apply(self, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        """Apply *manifest* on the server as field manager ``psap.perf``, and return the resulting object."""
        dry = {"dry_run": "All"} if dry_run else {}
        return self._put(manifest, "server_side_apply", field_manager=FIELD_MANAGER, force_conflicts=True, **dry)

    def merge(self, query: Query, patch: Manifest, *, dry_run: bool = False) -> Manifest:
        """Merge *patch* into the object that *query* names, and return the resulting object; null removes a key.

        The server refuses a field that the kind does not have; without ``strict`` it would drop the field.
        """
        return self._call(
            query.api_version,
            query.kind,
            "patch",
            body=patch,
            name=query.name,
            namespace=query.namespace,
            content_type="application/merge-patch+json",
            strict=True,
            **({"dry_run": "All"} if dry_run else {}),
        )

    def create(self, manifest: Manifest) -> Manifest:
        """Create an object that cannot be applied, such as a ProjectRequest, and return the server's response.

        Raises:
            ConflictError: If an object of that name exists.
        """
        namespace = manifest["metadata"].get("namespace")
        api_version, kind = manifest["apiVersion"], manifest["kind"]
        return self._call(api_version, kind, "create", body=manifest, namespace=namespace, strict=True)

    def replace(self, manifest: Manifest) -> Manifest:
        """Replace the object that has the resourceVersion of *manifest*.

        Raises:
            ConflictError: If the object has changed since, or is gone.
        """
        return self._put(manifest, "replace")

    def approve(self, request: Manifest, condition: Manifest) -> None:
        """Approve a CertificateSigningRequest with *condition*."""
        name, status = request["metadata"]["name"], request.get("status", {})
        approved = {**request, "status": {**status, "conditions": [*(status.get("conditions") or []), condition]}}
        replace = kubernetes.client.CertificatesV1Api(self._api).replace_certificate_signing_request_approval
        self._answer(
            f"approving {name}",
            lambda: replace(name, approved, _request_timeout=self._request_timeout_s),
            repeatable=False,
        )

    def delete(self, query: Query, *, propagation: str = "Background", resource_version: str | None = None) -> bool:
        """Delete the object that *query* names, and return whether it existed.

        Args:
            resource_version: The version that the object must have; None deletes any version.

        Raises:
            ConflictError: If the object has another version.
        """
        options: Manifest = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation}
        if resource_version is not None:
            options["preconditions"] = {"resourceVersion": resource_version}
        try:
            self._call(
                query.api_version,
                query.kind,
                "delete",
                name=query.name,
                namespace=query.namespace,
                body=options,
            )
        except NotFoundError:
            return False
        return True

    def delete_collection(self, query: Query, *, propagation: str = "Background") -> None:
        """Delete all objects that the selectors of *query* match, in one request a namespace."""
        self._call(
            query.api_version,
            query.kind,
            "delete",
            namespace=query.namespace,
            label_selector=query.label_selector,
            field_selector=query.field_selector,
            body={"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation},
        )

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        """Yield events ``(ADDED|MODIFIED|DELETED, object)`` after *resource_version*, for *timeout_s* seconds.

        Ends early if the connection breaks or the version has expired, and immediately if the server does not support
        watches of the kind, such as PackageManifest. The caller then lists again.
        """
        resource = self._resource(query.api_version, query.kind)
        if "watch" not in resource.verbs:
            return
        try:
            with self._errors.reported(f"watching {query}"):
                response = resource.get(
                    namespace=query.namespace,
                    label_selector=query.label_selector,
                    field_selector=f"metadata.name={query.name}" if query.name else query.field_selector,
                    resource_version=resource_version,
                    watch=True,
                    timeout_seconds=timeout_s,
                    serialize=False,
                    _request_timeout=(10, timeout_s + 10),
                )
                for line in response:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        return
                    yield event["type"], event["object"]
        except UnavailableError as error:
            # the caller lists again, which is repeated during the outage
            self.outage.pause(error)

    def logs(self, namespace: str, pod: str, container: str | None = None, tail: int | None = None) -> str:
        """Return the log of a container.

        Args:
            container: Required if the pod has several.
            tail: Number of lines at the end; None returns all.
        """
        arguments: dict[str, Any] = {"container": container, "tail_lines": tail}
        options = {name: value for name, value in arguments.items() if value is not None}
        answer = self._answer(f"reading the log of pod {namespace}/{pod}", lambda: self._log(namespace, pod, options))
        return str(answer.data.decode("utf-8", errors="replace"))

    def log_chunks(self, namespace: str, pod: str, container: str) -> Iterator[bytes]:
        """Yield the whole log of a container, with timestamps, in pieces: the log need not fit into memory."""
        doing, options = f"reading the log of pod {namespace}/{pod}", {"container": container, "timestamps": True}
        answer = self._answer(doing, lambda: self._log(namespace, pod, options))
        with self._errors.reported(doing):
            yield from answer.stream(_CHUNK_BYTES)

    def _log(self, namespace: str, pod: str, options: dict[str, Any]) -> Any:
        read = kubernetes.client.CoreV1Api(self._api).read_namespaced_pod_log
        return read(pod, namespace, _preload_content=False, _request_timeout=self._request_timeout_s, **options)

    def service_account_token(self, namespace: str, name: str, lasting_s: int, bound: Manifest | None = None) -> str:
        """Return a token of a service account for *lasting_s* or until the object *bound* is deleted; hide it."""
        request = {"spec": {"audiences": [], "expirationSeconds": lasting_s, "boundObjectRef": bound}}
        create = kubernetes.client.CoreV1Api(self._api).create_namespaced_service_account_token
        answer = self._answer(
            f"asking for a token of service account {namespace}/{name}",
            lambda: create(name, namespace, request, _request_timeout=self._request_timeout_s),
        )
        check_lifetime(answer.spec.expiration_seconds, lasting_s)
        return str(answer.status.token)

    def close(self) -> None:
        """Close the connections."""
        self._api.close()

    def _resource(self, api_version: str, kind: str) -> Any:
        find = self._client.resources.find
        found = self._answer(f"finding {kind} of {api_version}", lambda: find(api_version, kind))
        if found is None:
            raise UnknownKindError(
                f"{self.server} serves no {kind} of {api_version}; install what defines it, or check the version"
            )
        return found

    def _put(self, manifest: Manifest, verb: str, **arguments: Any) -> Manifest:
        """Send *manifest* to the URL of its object."""
        version, kind, metadata = manifest["apiVersion"], manifest["kind"], manifest["metadata"]
        name, namespace = metadata["name"], metadata.get("namespace")
        return self._call(version, kind, verb, body=manifest, name=name, namespace=namespace, **arguments)

    def _call(self, api_version: str, kind: str, verb: str, *, strict: bool = False, **arguments: Any) -> Manifest:
        """Send a request; with *strict* the server refuses fields that the kind does not have."""
        resource = self._resource(api_version, kind)
        request = getattr(resource, verb)
        response = self._answer(
            f"{verb} of {kind} {arguments.get('name') or ''}".rstrip(),
            # a new list for each request: the client appends to it
            lambda: request(
                serialize=False,
                _request_timeout=self._request_timeout_s,
                query_params=[("fieldValidation", "Strict")] if strict else [],
                **arguments,
            ),
            repeatable=verb != "create",
        )
        self._date = response.headers.get("Date")
        answer: Manifest = json.loads(response.data)
        return answer

    def _answer(self, doing: str, request: Callable[[], Any], *, repeatable: bool = True) -> Any:
        """Return the server's response; a *repeatable* request without one is repeated while the outage may last."""
        while True:
            try:
                with self._errors.reported(doing):
                    answer = request()
            except UnavailableError as error:
                if not (repeatable or error.untouched):
                    raise
                self.outage.pause(error)
            except DeniedError as error:
                # an API server that has just started may not have loaded its access rules yet
                if not self.outage.lasts:
                    raise
                self.outage.pause(error)
            except ClusterError:
                self.outage.end()
                raise
            else:
                self.outage.end()
                return answer
