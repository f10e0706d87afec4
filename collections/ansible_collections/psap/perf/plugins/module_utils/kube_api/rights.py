"""The permissions that roles and flows declare as rules, and those of them that the user does not have."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query, query_from

_FIELDS = {"role", "kinds", "resource", "api_version", "verbs", "namespaces", "when", "absent"}
_CONDITIONS = {"served", "unless"}
_NAMESPACE = ("v1", "Namespace")


@dataclass(frozen=True, slots=True)
class Right:
    """Permission to do *verb* with objects of a kind, in *namespace* or everywhere.

    Attributes:
        absent: Whether it is needed only if the namespace does not exist.
        resource: Name of the kind in URLs, if it may not be installed yet; or with a subresource: ``pods/exec``.
    """

    verb: str
    api_version: str
    kind: str
    namespace: str | None = None
    absent: bool = False
    resource: str | None = None


class RightsSource(Protocol):
    """The part of a cluster's client that this module uses."""

    def serves(self, api_version: str, kind: str) -> bool:
        """Return whether the cluster serves the kind."""

    def is_namespaced(self, api_version: str, kind: str) -> bool:
        """Return whether the kind is namespaced."""

    def is_visible(self, query: Query) -> bool:
        """Return whether the object exists and the user may read it."""

    def visible(self, query: Query) -> list[Manifest]:
        """Return the objects that the user may list."""

    def may(self, verb: str, query: Query, resource: str | None) -> bool:
        """Return whether the user may do it; *resource* is for a kind that is not served, or a subresource."""


def applicable(rules: Iterable[Mapping[str, Any]], source: RightsSource) -> Iterator[Mapping[str, Any]]:
    """Yield the rules whose ``served`` kinds the cluster serves, and of whose ``unless`` objects it has none."""
    for rule in rules:
        served = (source.serves(api_version_of(kind), kind) for kind in rule.get("served") or ())
        if all(served) and not any(_is_there(source, wanted) for wanted in rule.get("unless") or ()):
            yield {name: value for name, value in rule.items() if name not in _CONDITIONS}


def _is_there(source: RightsSource, wanted: Mapping[str, Any]) -> bool:
    query = query_from(wanted)
    if not source.serves(query.api_version, query.kind):
        return False
    if query.name:
        return source.is_visible(query)
    among = wanted.get("packages")
    return any(among is None or item["spec"]["name"] in among for item in source.visible(query))


def rights(rules: Iterable[Mapping[str, Any]], of_role: Callable[[str], Sequence[Mapping[str, Any]]]) -> list[Right]:
    """Return the rights that *rules* declare.

    A rule has ``kinds`` and ``verbs``, or a ``role`` whose rules apply; and may have

    * ``namespaces``: where it applies; they are also the namespaces of the role's rules that have none.
    * ``when``: whether it applies.
    * ``absent``: whether it applies only to namespaces that do not exist.
    * ``resource``: the name of its one kind in URLs, so that it also applies to a kind that is not served yet; or a
      subresource, such as ``pods/exec``.

    Args:
        of_role: Returns the rules that a role declares.

    Raises:
        UsageError: If a rule has other fields, or an unknown kind.
    """
    return list(dict.fromkeys(right for rule in rules for right in _expanded(rule, of_role)))


def _expanded(rule: Mapping[str, Any], of_role: Callable[[str], Sequence[Mapping[str, Any]]]) -> Iterator[Right]:
    strange = set(rule) - _FIELDS
    if strange or ("role" in rule) == ("kinds" in rule):
        raise UsageError(f"a rule of rights has either role or kinds, and no {', '.join(sorted(strange)) or 'both'}")
    if not rule.get("when", True):
        return
    if "role" in rule:
        for inner in of_role(rule["role"]):
            yield from _expanded({"namespaces": rule.get("namespaces"), **inner}, of_role)
        return
    for namespace in rule.get("namespaces") or [None]:
        for kind in rule["kinds"]:
            version = api_version_of(kind, rule.get("api_version"))
            for verb in rule["verbs"]:
                yield Right(verb, version, kind, namespace, bool(rule.get("absent")), rule.get("resource"))


def missing(source: RightsSource, wanted: Iterable[Right]) -> list[str]:
    """Return the rights of *wanted* that the user does not have, a phrase for each kind and namespace.

    Kinds that are not served need no rights, unless they have a ``resource``.
    """
    found: dict[tuple[str, str], dict[str, None]] = {}
    exists = functools.cache(lambda name: source.is_visible(Query(*_NAMESPACE, namespace=name, name=name)))
    for right in wanted:
        served = source.serves(right.api_version, right.kind)
        if not served and right.resource is None:
            continue
        if right.absent and exists(right.namespace):
            continue
        namespace = right.namespace if not served or source.is_namespaced(right.api_version, right.kind) else None
        query = Query(right.api_version, right.kind, namespace)
        # a namespace is also an object: a role in it may permit its use
        if (right.api_version, right.kind) == _NAMESPACE and right.verb in ("get", "patch", "delete"):
            query = Query(*_NAMESPACE, namespace=right.namespace, name=right.namespace)
        subresource = right.resource if "/" in (right.resource or "") else None
        if not source.may(right.verb, query, subresource if served else right.resource):
            # rules of several namespaces are the same for kinds without a namespace
            found.setdefault((subresource or right.kind, query.namespace or ""), {})[right.verb] = None
    return [
        f"{', '.join(verbs)} {kind}{f' in namespace {namespace}' if namespace else ''}"
        for (kind, namespace), verbs in found.items()
    ]
