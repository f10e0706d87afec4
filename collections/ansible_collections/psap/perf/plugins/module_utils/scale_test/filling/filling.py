"""Create the missing copies, in spite of temporary failures of the API server. A second call completes a first.

A permanent refusal (by a quota, a missing right, a namespace that is being deleted, a name in use) ends its kind in its
namespace, where the next copies would be refused for the same reason; all others continue.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import TOO_MANY, Answer, ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import (
    NAMESPACES,
    ResourceKind,
    discover,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.listing import METADATA_ONLY, pages
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.unsettled import UnsettledRights
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.account import Account
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.copies import (
    SELECTOR,
    Copies,
    Copy,
    Key,
    Template,
    is_ours,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.progress import Meter
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import Concurrency
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.pacing import Pace
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import Arrivals

_NOT_FOUND = 404
_CONFLICT = 409
_TICK_S = 0.1
_PROGRESS_S = 1.0
# a name may become free between the two requests, and a quota's 409 is about the quota
_CONFLICT_TRIES = 5
_NAMESPACE_ENDS = "the namespace is being deleted; run again when it is gone"


@dataclass(frozen=True, slots=True)
class FillRequest:
    """*count* copies of *manifests* in each namespace that the label selector *namespaces* matches."""

    manifests: Sequence[Manifest]
    count: int
    labels: Mapping[str, str]
    namespaces: str
    concurrency: Concurrency
    arrivals: Arrivals


async def plan(client: ApiClient, request: FillRequest) -> Filling:
    """List the existing copies, and return the work that is left.

    Raises:
        ClusterError: If a kind or a namespace is missing, or the cluster refuses to list them.
    """
    templates = [Template(manifest, request.labels) for manifest in request.manifests]
    namespaces: dict[str, Manifest] = {}
    if any(template.namespaced for template in templates):
        namespaces = await _namespaces(client, request.namespaces)
    copies = Copies(templates, request.count, list(namespaces))
    resources = {
        template.kind: await discover(client, template.api_version, template.kind)
        if template.namespaced
        else NAMESPACES
        for template in templates
    }
    present: set[Key] = set()
    for kind, resource in resources.items():
        async for page in pages(client, resource.collection(None), SELECTOR, METADATA_ONLY):
            present.update(_key(kind, obj) for obj in page if "deletionTimestamp" not in obj["metadata"])
    filling = Filling(client, request, copies, resources, present)
    ending = {name for name, namespace in namespaces.items() if "deletionTimestamp" in namespace["metadata"]}
    filling.account.refusals.update({scope: _NAMESPACE_ENDS for scope in copies.scopes if scope[1] in ending})
    return filling


async def _namespaces(client: ApiClient, selector: str) -> dict[str, Manifest]:
    found = [obj async for page in pages(client, NAMESPACES.collection(None), selector, METADATA_ONLY) for obj in page]
    if not found:
        raise NoNamespaceError(
            f"no namespace has the labels {selector}; create some with busy_cluster_create_namespaces, or select others"
        )
    return {obj["metadata"]["name"]: obj for obj in found}


class NoNamespaceError(ClusterError):
    """The selector matches no namespace."""


def _key(kind: str, obj: Manifest) -> Key:
    return kind, obj["metadata"].get("namespace"), obj["metadata"]["name"]


@dataclass(frozen=True, slots=True)
class _Sent:
    sent_s: float
    answered_s: float
    attempts: int


class Filling:
    """The creation of the missing copies."""

    def __init__(
        self,
        client: ApiClient,
        request: FillRequest,
        copies: Copies,
        resources: Mapping[str, ResourceKind],
        present: set[Key],
    ) -> None:
        self._client = client
        self._request = request
        self._copies = copies
        self._resources = resources
        # one for each scope: a success in another scope does not show that a missing right is temporary
        self._rights: dict[tuple[str, str | None], UnsettledRights] = {}
        self._clock = RunClock.tied()
        self._stopping = asyncio.Event()
        keys = [copies.key(index) for index in range(len(copies))]
        self._missing = [index for index, key in enumerate(keys) if key not in present]
        self.account = Account(
            wanted=Counter(key[0] for key in keys),
            existed=Counter(key[0] for key in keys if key in present),
            namespaces=len({key[1] for key in keys if key[1]}),
        )

    async def run(self, artifacts: Path, interrupted: Callable[[], bool]) -> None:
        """Create them, and write ``progress.json`` and ``creation.json`` to *artifacts*.

        Returns when all exist or are refused, or soon after *interrupted* returns True.

        Raises:
            ClusterError: If the API server no longer answers.
        """
        began, meter, phase, next_progress = self._clock.now(), Meter(), "creating", 0.0
        pace = Pace(self._clock, self._request.concurrency, self._request.arrivals, self._stopping)
        creating = asyncio.create_task(pace.send(range(len(self._missing)), self._send))
        try:
            while not creating.done():
                await asyncio.wait({creating}, timeout=_TICK_S)
                if interrupted():
                    self.account.stopped = True
                    self._stopping.set()
                if self._clock.now() >= next_progress:
                    next_progress = self._clock.now() + _PROGRESS_S
                    self._write_progress(artifacts, phase, meter, began)
            creating.result()
            phase = "done"
        finally:
            creating.cancel()
            await asyncio.gather(creating, return_exceptions=True)
            self._write_progress(artifacts, phase, meter, began)
            document = self.account.document(self._client.counts, self._clock.now() - began)
            write_json(artifacts / "creation.json", document)

    def _write_progress(self, artifacts: Path, phase: str, meter: Meter, began: float) -> None:
        now = self._clock.now()
        per_s, _completed = meter.rates(now, self.account.created.total(), 0)
        times = {"elapsed_s": round(now - began, 3), "updated_s": now}
        write_json(artifacts / "progress.json", self.account.progress(phase, per_s, times))

    async def _send(self, position: int) -> _Sent | None:
        copy = self._copies.at(self._missing[position])
        if copy.scope in self.account.refusals:
            return None
        sent = self._clock.now()
        answer = await self._create(copy)
        return _Sent(sent, self._clock.now(), answer.attempts)

    async def _create(self, copy: Copy) -> Answer:
        kind, namespace, name = copy.key
        resource = self._resources[kind]
        answer = await self._ask(copy, "POST", resource.collection(namespace), copy.body)
        for _try in range(_CONFLICT_TRIES):
            if answer.status != _CONFLICT:
                break
            found = await self._ask(copy, "GET", resource.object(namespace, name))
            if found.status != _NOT_FOUND:
                self._account_existing(copy, found, mine=answer.attempts > 1)
                return answer
            answer = await self._ask(copy, "POST", resource.collection(namespace), copy.body)
        if answer.succeeded:
            self.account.created[kind] += 1
        else:
            self._refuse(copy, answer.message())
        return answer

    def _account_existing(self, copy: Copy, found: Answer, *, mine: bool) -> None:
        """Account for an existing object, created by an attempt whose answer was lost (*mine*) or before."""
        obj = found.document()
        if not is_ours(obj):
            self._refuse(copy, f"{copy.key[2]} exists and was not created by this command; choose another prefix")
        elif "deletionTimestamp" in obj["metadata"]:
            self._refuse(copy, f"{copy.key[2]} is being deleted; run again when it is gone")
        else:
            (self.account.created if mine else self.account.existed)[copy.key[0]] += 1

    async def _ask(self, copy: Copy, method: str, path: str, body: bytes | None = None) -> Answer:
        if copy.scope not in self._rights:
            self._rights[copy.scope] = UnsettledRights(granted=self.account.created.total() > 0)
        answer = await self._client.request(method, path, body=body, also_repeat=self._rights[copy.scope].is_temporary)
        if answer.status == TOO_MANY or answer.status >= 500:
            # the client has repeated it for two minutes
            raise ClusterError(f"{method} {path} was refused {answer.attempts} times: {answer.message()}")
        return answer

    def _refuse(self, copy: Copy, message: str) -> None:
        self.account.refusals.setdefault(copy.scope, message)
        if len(self.account.refusals) == len(self._copies.scopes):
            self._stopping.set()
