"""The functions of templates in addition to Jinja2's own: as a function, a filter, or a test (`pod is ready`)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jinja2
import yaml

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import find_condition, is_leaving, is_true, now_s
from perflab.emulators.framework.units import parse_duration
from perflab.files.bounded_yaml import load_yaml


def now() -> str:
    """Return the time in the API's format, in whole seconds. It changes each time: write it to a status only once."""
    return now_s()


def ready(document: Any) -> bool:
    """Return whether an object is not deleted and works: a workload rolled out, anything else by its conditions."""
    if not isinstance(document, dict) or is_leaving(document):
        return False
    status, kind = document.get("status") or {}, document.get("kind")
    if kind in ("Deployment", "StatefulSet", "DaemonSet"):
        if status.get("observedGeneration", 0) < document["metadata"]["generation"]:
            return False
        if kind == "DaemonSet":
            # one that no node needs is ready
            wanted = status.get("desiredNumberScheduled", 0)
            return bool(status.get("numberAvailable", 0) == wanted == status.get("updatedNumberScheduled", 0))
        wanted = document["spec"].get("replicas", 1)
        return bool(wanted) and status.get("availableReplicas", 0) >= wanted
    return is_true(document, "Ready") or is_true(document, "Available")


def leaving(document: Any) -> bool:
    """Return whether an object was deleted and still has finalizers."""
    return isinstance(document, dict) and is_leaving(document)


def condition(document: Any, kind: str) -> Any:
    """Return the condition of that type, or undefined."""
    found = find_condition(document, kind) if isinstance(document, dict) else None
    return found or jinja2.ChainableUndefined(name=kind)


def names(documents: Iterable[Document]) -> list[str]:
    """Return the names of objects."""
    return [document["metadata"]["name"] for document in documents]


def named(documents: Iterable[Document], name: str, namespace: str = "") -> Any:
    """Return the object of that name, or undefined."""
    for document in documents:
        metadata = document["metadata"]
        if metadata["name"] == name and metadata.get("namespace", "") == namespace:
            return document
    return jinja2.ChainableUndefined(name=name)


def starting(mapping: Any, prefix: str) -> dict[str, Any]:
    """Return the entries whose keys begin with *prefix*, for example of labels."""
    return {key: value for key, value in (mapping or {}).items() if key.startswith(prefix)}


def begins_with(text: Any, prefix: str) -> bool:
    """Return whether a text begins with *prefix*."""
    return isinstance(text, str) and text.startswith(prefix)


def exactly(wanted: Any, present: Any, prefix: str = "", keep: Iterable[str] = ()) -> dict[str, Any]:
    """Return a merge patch after which *present* has, of keys that begin with *prefix*, those of *wanted* and of *keep*
    only.
    """
    gone = starting(present, prefix).keys() - (wanted or {}).keys() - set(keep)
    return {**dict.fromkeys(sorted(gone)), **(wanted or {})}


def contains(present: Any, wanted: Any) -> bool:
    """Return whether merging *wanted* into *present* changes nothing; empty values may be absent."""
    if isinstance(present, jinja2.Undefined):
        present = None
    if wanted is None or (present is None and not wanted):
        return present is None
    if isinstance(wanted, Mapping):
        known = {} if present is None else present
        return isinstance(known, Mapping) and all(contains(known.get(key), each) for key, each in wanted.items())
    if isinstance(wanted, list):
        same = isinstance(present, list) and len(present) == len(wanted)
        return same and all(map(contains, present, wanted))
    return bool(present == wanted)


def duration(text: Any) -> float | None:
    """Return the seconds of `500ms` or `1m30s`; None if it is not a duration."""
    return parse_duration(text) if isinstance(text, str) else None


def from_yaml(text: Any) -> Any:
    """Return the YAML value of a text; an empty dictionary if it is not a mapping."""
    try:
        found = load_yaml(text) if isinstance(text, str) else {}
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def encoded(text: str) -> str:
    """Return a text in base64, as in the data of a Secret."""
    return base64.b64encode(text.encode()).decode()


def selected_by(labels: Any, selector: Any) -> bool:
    """Return whether an object with these labels is selected; an empty selector selects all, none selects nothing."""
    if not isinstance(selector, dict):
        return False
    labels = labels if isinstance(labels, dict) else {}
    exact = (selector.get("matchLabels") or {}).items() <= labels.items()
    return exact and all(_matches(labels, **each) for each in selector.get("matchExpressions") or ())


def _matches(labels: Mapping[str, str], key: str, operator: str, values: Iterable[str] = ()) -> bool:
    found = key in labels if operator in ("Exists", "DoesNotExist") else labels.get(key) in list(values)
    return found == (operator in ("Exists", "In"))


_ALL = (encoded, selected_by, now, ready, leaving, condition, names, named, starting, begins_with, exactly, contains)
FUNCTIONS: Mapping[str, Callable[..., Any]] = {each.__name__: each for each in (*_ALL, duration, from_yaml)}
