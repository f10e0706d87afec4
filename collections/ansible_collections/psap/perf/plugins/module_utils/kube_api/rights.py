"""What the user of a cluster must be allowed: rules as roles and flows state them, and which of them are lacking."""

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
    """To do *verb* with objects of a kind, in *namespace* or everywhere.

    :param absent: whether it is needed only where the namespace is not there.
    :param resource: name of the kind in URLs, where it may be still to come; or with a subresource: ``pods/exec``.
    """

    verb: str
    api_version: str
    kind: str
    namespace: str | None = None
    absent: bool = False
    resource: str | None = None


class Source(Protocol):
    """What is needed of a cluster."""

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether it knows the kind."""

    def is_namespaced(self, api_version: str, kind: str) -> bool:
        """Whether objects of the kind live in namespaces."""

    def is_visible(self, query: Query) -> bool:
        """Whether the object is there, as far as the user may know."""

    def visible(self, query: Query) -> list[Manifest]:
        """The objects that are there, as far as the user may know."""

    def may(self, verb: str, query: Query, resource: str | None) -> bool:
        """Whether the user may do it; *resource* names a kind that is not served, or a subresource."""


def holding(rules: Iterable[Mapping[str, Any]], source: Source) -> Iterator[Mapping[str, Any]]:
    """Those of *rules* that hold in the cluster.

    It serves the kinds below their ``served``, and has none of the objects below their ``unless``.
    """
    for rule in rules:
        served = (source.serves(api_version_of(kind), kind) for kind in rule.get("served") or ())
        if all(served) and not any(_is_there(source, wanted) for wanted in rule.get("unless") or ()):
            yield {name: value for name, value in rule.items() if name not in _CONDITIONS}


def _is_there(source: Source, wanted: Mapping[str, Any]) -> bool:
    query = query_from(wanted)
    if not source.serves(query.api_version, query.kind):
        return False
    if query.name:
        return source.is_visible(query)
    among = wanted.get("packages")
    return any(among is None or item["spec"]["name"] in among for item in source.visible(query))


def rights(rules: Iterable[Mapping[str, Any]], of_role: Callable[[str], Sequence[Mapping[str, Any]]]) -> list[Right]:
    """The rights that *rules* state.

    A rule has ``kinds`` and ``verbs``, or the ``role`` whose own rules hold; and may have

    * ``namespaces``: in which it holds, as rules of the role do that name none.
    * ``when``: whether it holds.
    * ``absent``: whether it holds only for those of the namespaces that are not there.
    * ``resource``: the name of its one kind in URLs; it holds where the kind is not served yet, too. Or that of a
      subresource, such as ``pods/exec``.

    :param of_role: the rules that a role states.
    :raises UsageError: when a rule has other fields, or an unknown kind.
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


def lacking(source: Source, wanted: Iterable[Right]) -> list[str]:
    """What of *wanted* the user may not, a phrase for each kind and namespace.

    Kinds that are not served need no rights, but for those that are to come.
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
        # a namespace is an object, too: a role in it may allow to read it
        if (right.api_version, right.kind) == _NAMESPACE and right.verb in ("get", "delete"):
            query = Query(*_NAMESPACE, namespace=right.namespace, name=right.namespace)
        subresource = right.resource if "/" in (right.resource or "") else None
        if not source.may(right.verb, query, subresource if served else right.resource):
            # rules of several namespaces are the same for what is in none
            found.setdefault((subresource or right.kind, query.namespace or ""), {})[right.verb] = None
    return [
        f"{', '.join(verbs)} {kind}{f' in namespace {namespace}' if namespace else ''}"
        for (kind, namespace), verbs in found.items()
    ]
