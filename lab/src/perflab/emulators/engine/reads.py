"""The values that a rule reads of other objects, up to date, by the object that they concern."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from perflab.cluster.api import Document
from perflab.emulators.engine.product import Path_, Read
from perflab.emulators.engine.templates import Compiler, Scope
from perflab.emulators.framework.resources import parse_kind
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.framework.stores import Stores

_ALL: Key = ("", "")


class Reading:
    """The values of one read; *enqueue* is called with the key that a change concerns, None for all."""

    def __init__(
        self,
        read: Read,
        stores: Stores,
        compiler: Compiler,
        scope: Scope,
        path: Path_,
        known: frozenset[str],
        enqueue: Callable[[Key | None], None],
    ) -> None:
        """*scope* has the names of the product, *known*."""
        self._scope = scope
        self._triggers = read.triggers
        self._enqueue = enqueue
        names = known | {"item"}
        self._match = compiler.value(read.match, (*path, "match"), names) if read.match else None
        self._value = compiler.value(read.value, (*path, "value"), names) if read.value is not None else None
        self._where: dict[Key, Key] = {}
        self._values: defaultdict[Key, dict[Key, Any]] = defaultdict(dict)
        stores.get(parse_kind(read.kind), read.labels, read.name).listen(self._changed)

    def of(self, key: Key) -> list[Any]:
        """Return the values that concern the object with this key."""
        return list(self._values.get(key if self._match else _ALL, {}).values())

    def _changed(self, old: Document | None, new: Document | None) -> None:
        key = key_of(new or old or {})
        before = self._where.pop(key, None)
        was = self._values[before].pop(key, None) if before is not None else None
        if before is not None and not self._values[before]:
            del self._values[before]
        where, value = self._key_and_value(new)
        if new is not None and where is not None:
            self._where[key] = where
            self._values[where][key] = value
        if self._triggers and (where != before or value != was or self._value is None):
            for each in {before, where} - {None}:
                self._enqueue(each if self._match else None)

    def _key_and_value(self, document: Document | None) -> tuple[Key | None, Any]:
        if document is None:
            return None, None
        scope = self._scope.with_item(document)
        where: Key | None = _ALL
        if self._match:
            found = self._match(scope)
            namespace, _, name = found.rpartition("/") if isinstance(found, str) else ("", "", "")
            where = (namespace, name) if name else None
        return where, self._value(scope) if self._value and where is not None else document
