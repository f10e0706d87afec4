"""Select the objects of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of


@dataclass(frozen=True, slots=True)
class Query:
    """Selects one object by name, or all that the selectors match.

    Attributes:
        api_version: Such as ``batch/v1``; or a group, such as ``batch``, of which the server selects the version.
    """

    api_version: str
    kind: str
    namespace: str | None = None
    name: str | None = None
    label_selector: str | None = None
    field_selector: str | None = None

    def __str__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        if self.name:
            return f"{self.kind} {self.name}{where}"
        chosen = ",".join(filter(None, (self.label_selector, self.field_selector)))
        return f"{self.kind} objects{where}{f' with {chosen}' if chosen else ''}"


@dataclass(frozen=True, slots=True)
class QueryArguments:
    """Arguments of a verb that select objects; None where they are not passed."""

    kind: str
    api_version: str | None
    name: str | None
    namespace: str | None
    label_selector: str | None

    def as_query(self) -> Query:
        """Return the query.

        Raises:
            UsageError: If the kind is unknown and has no API version.
        """
        version = api_version_of(self.kind, self.api_version)
        return Query(version, self.kind, self.namespace, self.name, self.label_selector)


def query_from(options: Mapping[str, Any]) -> Query:
    """Return the query that *options* describe: ``kind``, and optional fields of a query.

    Raises:
        UsageError: If the kind is unknown and has no API version.
    """
    return Query(
        api_version=api_version_of(options["kind"], options.get("api_version")),
        kind=options["kind"],
        namespace=options.get("namespace"),
        name=options.get("name"),
        label_selector=options.get("label_selector"),
        field_selector=options.get("field_selector"),
    )
