"""What the user of a cluster must be allowed: rules as roles and flows state them, and which of them are lacking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query

_FIELDS = {"role", "kinds", "api_version", "verbs", "namespaces", "when", "absent"}
_NAMESPACE = ("v1", "Namespace")


@dataclass(frozen=True, slots=True)
class Right:
    """To do *verb* with objects of a kind, in *namespace* or everywhere.

    :param absent: whether it is needed only where the namespace is not there.
    """

    verb: str
    api_version: str
    kind: str
    namespace: str | None = None
    absent: bool = False


class Source(Protocol):
    """What is needed of a cluster."""

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether it knows the kind."""

    def is_namespaced(self, api_version: str, kind: str) -> bool:
        """Whether objects of the kind live in namespaces."""

    def is_visible(self, query: Query) -> bool:
        """Whether the object is there, as far as the user may know."""

    def may(self, verb: str, query: Query) -> bool:
        """Whether the user may do it."""


def rights(rules: Iterable[Mapping[str, Any]], of_role: Callable[[str], Sequence[Mapping[str, Any]]]) -> list[Right]:
    """The rights that *rules* state.

    A rule has ``kinds`` and ``verbs``, or the ``role`` whose own rules hold; and may have ``namespaces``, ``when``, and
    ``absent``, which holds for those of the namespaces that are not there.

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
            yield from _expanded({**inner, "namespaces": rule.get("namespaces")}, of_role)
        return
    for namespace in rule.get("namespaces") or [None]:
        for kind in rule["kinds"]:
            version = api_version_of(kind, rule.get("api_version"))
            for verb in rule["verbs"]:
                yield Right(verb, version, kind, namespace, bool(rule.get("absent")))


def lacking(source: Source, wanted: Iterable[Right]) -> list[str]:
    """What of *wanted* the user may not, a phrase for each kind and namespace; kinds that are not served need none."""
    found: dict[tuple[str, str], list[str]] = {}
    for right in wanted:
        if not source.serves(right.api_version, right.kind):
            continue
        if right.absent and source.is_visible(Query(*_NAMESPACE, namespace=right.namespace, name=right.namespace)):
            continue
        namespace = right.namespace if source.is_namespaced(right.api_version, right.kind) else None
        query = Query(right.api_version, right.kind, namespace)
        # a namespace is an object, too: a role in it may allow to read it
        if (right.api_version, right.kind) == _NAMESPACE and right.verb in ("get", "delete"):
            query = Query(*_NAMESPACE, namespace=right.namespace, name=right.namespace)
        if not source.may(right.verb, query):
            found.setdefault((right.kind, query.namespace or ""), []).append(right.verb)
    return [
        f"{', '.join(verbs)} {kind}{f' in namespace {namespace}' if namespace else ''}"
        for (kind, namespace), verbs in found.items()
    ]
