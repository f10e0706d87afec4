"""Numbered copies of objects: their number, names, and bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest, labelled
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import NAMESPACES, resource_of

BUSY_LABEL = ("psap.perf/busy-cluster", "yes")
SELECTOR = "=".join(BUSY_LABEL)
"""Selects all objects that were created here."""
NUMBER_MARK = "psap-perf-number-mark"
"""The text that a template renders as the number of the copy."""

Key: TypeAlias = "tuple[str, str | None, str]"
"""Kind, namespace (None if not namespaced) and name of an object."""


@dataclass(frozen=True, slots=True)
class Copy:
    """One object to create."""

    api_version: str
    key: Key
    body: bytes

    @property
    def scope(self) -> tuple[str, str | None]:
        """Its kind and namespace, which a refusal ends."""
        return self.key[:2]


class Template:
    """One object to copy, as the text around its numbers."""

    def __init__(self, manifest: Mapping[str, Any], labels: Mapping[str, str]) -> None:
        """Raise UsageError if its name does not contain the number, or it has a namespace."""
        self.api_version, self.kind = resource_of(manifest)
        metadata = manifest["metadata"]
        if NUMBER_MARK not in metadata["name"]:
            raise UsageError(f"the name of {self.kind} {metadata['name']} needs the number: copies differ by it")
        if "namespace" in metadata:
            raise UsageError(f"{self.kind} {metadata['name']} has a namespace; its copies are in the selected ones")
        self._name = str(metadata["name"])
        complete = labelled(dict(manifest), {**labels, **dict([BUSY_LABEL])}, None)
        self._parts = json.dumps(complete, separators=(",", ":")).encode().split(NUMBER_MARK.encode())

    @property
    def namespaced(self) -> bool:
        """Whether its copies are namespaced."""
        return self.kind != NAMESPACES.kind

    def name(self, number: int) -> str:
        """Return the name of the copy with this number."""
        return self._name.replace(NUMBER_MARK, _text(number))

    def body(self, number: int) -> bytes:
        """Return the copy as JSON."""
        return _text(number).encode().join(self._parts)


def _text(number: int) -> str:
    return f"{number:05d}"


class Copies:
    """*count* copies of each of the templates in each namespace, in the order number, namespace, template."""

    def __init__(self, templates: Sequence[Template], count: int, namespaces: Sequence[str]) -> None:
        """Raise UsageError if there is nothing to copy, or only some templates are namespaced."""
        if count < 0:
            raise UsageError(f"count is {count}; it must be at least 0")
        if len({template.namespaced for template in templates}) != 1:
            raise UsageError("a template must contain either Namespaces or objects of namespaces, at least one")
        self.templates = templates
        self._namespaces: Sequence[str | None] = namespaces if templates[0].namespaced else [None]
        self.count = count

    def __len__(self) -> int:
        return self.count * len(self._namespaces) * len(self.templates)

    @property
    def scopes(self) -> list[tuple[str, str | None]]:
        """All kinds with all namespaces."""
        kinds = dict.fromkeys(template.kind for template in self.templates)
        return [(kind, namespace) for namespace in self._namespaces for kind in kinds]

    def key(self, index: int) -> Key:
        """Return the key of the object with this index."""
        template, namespace, number = self._place(index)
        return template.kind, namespace, template.name(number)

    def at(self, index: int) -> Copy:
        """Return the object with this index."""
        template, namespace, number = self._place(index)
        return Copy(template.api_version, (template.kind, namespace, template.name(number)), template.body(number))

    def _place(self, index: int) -> tuple[Template, str | None, int]:
        rest, template = divmod(index, len(self.templates))
        number, namespace = divmod(rest, len(self._namespaces))
        return self.templates[template], self._namespaces[namespace], number


def is_ours(obj: Manifest) -> bool:
    """Return whether an object was created here."""
    metadata = obj.get("metadata") or {}
    return (metadata.get("labels") or {}).get(BUSY_LABEL[0]) == BUSY_LABEL[1]
