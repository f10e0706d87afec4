"""The objects that a rule manages in addition to its own: created, corrected, deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from perflab.cluster.api import Document
from perflab.emulators.engine.functions import contains
from perflab.emulators.engine.product import Child, Path_, ProductError
from perflab.emulators.engine.templates import Compiler, Scope, Template
from perflab.emulators.framework.cluster import EMULATED, Cluster, owner_reference
from perflab.emulators.framework.documents import own_annotations
from perflab.emulators.framework.resources import Resource
from perflab.emulators.framework.store import Key, Store, key_of, owner_of
from perflab.errors import ClusterError

# fields of an object that name it and do not change
_NAMING = ("apiVersion", "kind", "status")


@dataclass(frozen=True, slots=True)
class _Compiled:
    """One entry; *store* is None if only the template determines the kind."""

    child: Child
    object: Template
    metadata: Template
    when: Template
    wait: Template
    loop: Template | None
    store: Store | None

    def scopes(self, scope: Scope) -> list[Scope]:
        return [scope] if self.loop is None else [scope.with_item(item) for item in self.loop(scope) or ()]

    def present(self, scope: Scope) -> Document | None:
        """Return the current object; None if it does not exist."""
        metadata = self.metadata(scope)
        if self.store is None or "name" not in metadata:
            return None
        return self.store.get((metadata.get("namespace", ""), metadata["name"]))


class Children:
    """The children of all objects of one rule."""

    def __init__(
        self,
        cluster: Cluster,
        owners: Store,
        children: list[Child],
        compiler: Compiler,
        path: Path_,
        names: frozenset[str],
    ) -> None:
        """*owners* has the rule's objects."""
        self._cluster = cluster
        self._owners = owners
        self._compiled = [self._compile(child, compiler, (*path, index), names) for index, child in enumerate(children)]

    def _compile(self, child: Child, compiler: Compiler, path: Path_, names: frozenset[str]) -> _Compiled:
        store: Store | None = None
        metadata: Any = {}
        if isinstance(child.object, dict):
            missing = {"apiVersion", "kind", "metadata"} - child.object.keys()
            if missing:
                raise ProductError(f"{compiler.file.place(path)}: the object has no {', '.join(sorted(missing))}")
            resource = Resource.of(child.object["apiVersion"], child.object["kind"])
            store, metadata = self._cluster.store(resource, child.labels), child.object["metadata"]
        loop = compiler.value(child.loop, (*path, "loop"), names) if child.loop is not None else None
        known = names | {"item"} if loop else names
        return _Compiled(
            child,
            compiler.value(child.object, (*path, "object"), known),
            compiler.value(metadata, (*path, "object", "metadata"), known),
            compiler.test(child.when, (*path, "when"), known),
            compiler.test(child.wait, (*path, "wait"), known),
            loop,
            store,
        )

    def listen(self, enqueue: Callable[[Key | None], None]) -> None:
        """Call *enqueue* with the key of the object whose child changed, or None if that is unknown."""

        def changed(old: Document | None, new: Document | None) -> None:
            document = new or old or {}
            owner = owner_of(document)
            if owner and _kind_of(owner) == (self._owners.resource.group, self._owners.resource.kind):
                for namespace in {document["metadata"].get("namespace", ""), ""}:
                    enqueue((namespace, owner["name"]))
            elif own_annotations(document).get(EMULATED) == self._cluster.name:
                enqueue(None)

        for store in {id(each.store): each.store for each in self._compiled if each.store}.values():
            store.listen(changed)

    async def bring(self, scope: Scope) -> dict[str, Any]:
        """Create, correct, delete; return the existing children by the `id` of the entries: a list if it has a loop."""
        found: dict[str, Any] = {}
        for each in self._compiled:
            present = [await self._bring(each, one) for one in each.scopes(scope)]
            if each.child.id:
                there = [document for document in present if document]
                found[each.child.id] = there if each.loop else next(iter(there), {})
        return found

    async def remove(self, scope: Scope) -> bool:
        """Delete all children that do not outlive the rule's object; return whether all are gone."""
        are_gone = True
        for each in self._compiled:
            for one in each.scopes(scope) if not each.child.keep else ():
                are_gone = not await self._delete(each, one) and are_gone
        return are_gone

    async def _bring(self, entry: _Compiled, scope: Scope) -> Document | None:
        if not entry.when(scope):
            if not entry.child.keep:
                await self._delete(entry, scope)
            return None
        if entry.wait(scope):
            return entry.present(scope)
        document = self._marked(entry, entry.object(scope), scope)
        if entry.store is None:
            await self._apply(document)
            return document
        key = key_of(document)
        present = entry.store.get(key)
        if present is None:
            await self._create(entry.store, document, scope.find("object"))
        elif entry.child.owned and _is_of_another(present, document):
            # it belonged to an earlier object of the owner's name, whose deletion is not known yet
            return None
        else:
            change = {name: value for name, value in document.items() if name not in _NAMING}
            # objects older than the emulator are not its own
            annotations = {**document["metadata"]["annotations"]}
            annotations.pop(EMULATED)
            change["metadata"] = {"labels": document["metadata"].get("labels"), "annotations": annotations}
            if not contains(present, change):
                await entry.store.patch(key, change)
        return entry.store.get(key)

    def _marked(self, entry: _Compiled, document: Document, scope: Scope) -> Document:
        """Return the object with the annotation for emulated objects, also on its pod template, and its owner."""
        metadata = _annotated(document.get("metadata") or {}, self._cluster.mark())
        owner = scope.find("object")
        if entry.child.owned and owner:
            metadata["ownerReferences"] = [owner_reference(self._owners.resource, owner)]
        marked = {**document, "metadata": metadata}
        spec = document.get("spec")
        template = spec.get("template") if isinstance(spec, dict) else None
        if isinstance(template, dict) and "metadata" in template:
            pods = {**template, "metadata": _annotated(template["metadata"], self._cluster.mark())}
            marked["spec"] = {**document["spec"], "template": pods}
        return marked

    async def _create(self, store: Store, document: Document, about: Document) -> None:
        try:
            created = await store.create(document)
        except ClusterError as error:
            # for example a quota, or a missing priority class: the status of the rule's object shows it
            if about:
                await self._cluster.event(self._owners.resource, about, "FailedCreate", str(error)[:1000], "Warning")
            raise
        if created is not None and "status" in document and "status" not in created:
            # a kind with a status subresource ignores it at creation
            await store.patch_status(key_of(document), document["status"])

    async def _apply(self, document: Document) -> None:
        resource = Resource.of(document["apiVersion"], document["kind"])
        path = resource.path(document["metadata"].get("namespace", ""))
        if await self._cluster.api.create(path, document) is None:
            await self._cluster.api.patch_present(f"{path}/{document['metadata']['name']}", document)

    async def _delete(self, entry: _Compiled, scope: Scope) -> bool:
        """Delete a child and return whether it existed."""
        present = entry.present(scope)
        if entry.store is None or not present or own_annotations(present).get(EMULATED) != self._cluster.name:
            return False
        await entry.store.delete(key_of(present))
        return True


def _is_of_another(present: Document, wanted: Document) -> bool:
    owner = owner_of(present)
    return owner is not None and owner["uid"] != (owner_of(wanted) or owner)["uid"]


def _annotated(metadata: Document, mark: dict[str, str]) -> Document:
    return {**metadata, "annotations": {**(metadata.get("annotations") or {}), **mark}}


def _kind_of(owner: Document) -> tuple[str, str]:
    """Return group and kind of an owner; its version may be one before an upgrade."""
    return owner["apiVersion"].rpartition("/")[0], owner["kind"]
