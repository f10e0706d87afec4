"""The sources of models and data sets: the entries of ``fine_tuning_sources``, and the lookup of names in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import parse_reference

DATASET, MODEL, REGISTRY = "dataset", "model", "model_registry"
_KINDS = (DATASET, MODEL, REGISTRY)
_FIELDS = ("type", "source_dir", "secret", "image", "transform", "response_template")
_WORKLOADS = ("fms", "ilab", "ray")
# the programs of these names in the files of the jobs' roles, which would refuse others only when they train
CONVERTERS = ("convert_alpaca", "convert_alpaca_to_messages")
_HOW = "add it to fine_tuning_sources"


@dataclass(frozen=True, slots=True)
class Source:
    """One entry; *source_dir* is empty for data that are already in the claim.

    Attributes:
        transform: Converter of each record by workload; the key ``""`` applies to all workloads.
    """

    key: str
    kind: str
    source_dir: str = ""
    secret: str = ""
    image: str = ""
    transform: Mapping[str, str] = field(default_factory=dict)
    response_template: str = ""

    def address(self, name: str) -> str:
        """Return the address of *name*; empty if it is not downloaded."""
        if not self.source_dir:
            return ""
        return self.source_dir + ("" if self.source_dir.endswith("/") else "/") + name

    def transform_for(self, workload: str) -> str:
        """Return the converter that *workload* needs; empty for none."""
        return self.transform.get(workload, self.transform.get("", ""))


def read_sources(declared: Mapping[str, Any]) -> dict[str, Source]:
    """Return the entries by their keys.

    Raises:
        UsageError: For the first invalid entry.
    """
    return {key: _source(key, body) for key, body in declared.items()}


def find_dataset(sources: Mapping[str, Source], name: str) -> Source:
    """Return the entry of the data set *name*, by its full name or without the suffix.

    Raises:
        UsageError: If it does not exist.
    """
    known = {key: source for key, source in sources.items() if source.kind == DATASET}
    for key in (name, name.partition(".")[0]):
        if key in known:
            return known[key]
    raise UsageError(f"fine_tuning_dataset_name: unknown data set {name}{did_you_mean(name, known)}; {_HOW}")


def find_model(sources: Mapping[str, Source], name: str, registry: str) -> tuple[str, Source]:
    """Return the name of a model without its registry, and the entry with which to fetch it.

    Args:
        registry: Registry for a name without one.

    Raises:
        UsageError: If the registry is unknown, or neither *name* nor *registry* has one.
    """
    model, at, named = name.partition("@")
    direct = sources.get(model)
    if not at and direct is not None and direct.kind == MODEL:
        return model, direct
    wanted = named or registry
    known = {key: source for key, source in sources.items() if source.kind == REGISTRY}
    if not wanted:
        raise UsageError(
            f"fine_tuning_model_name: the registry of {model} is missing; write {model}@REGISTRY with one of "
            f"{', '.join(known) or 'no registry'}, set fine_tuning_model_registry, or {_HOW}"
        )
    if wanted not in known:
        raise UsageError(
            f"fine_tuning_model_name: {name}: unknown registry {wanted}{did_you_mean(wanted, known)}; "
            f"fine_tuning_sources has {', '.join(known) or 'none'}"
        )
    return model, known[wanted]


def _source(key: str, body: Any) -> Source:
    place = f"fine_tuning_sources.{key}"
    if not isinstance(body, Mapping):
        raise UsageError(f"{place} must be a dictionary with a type and a source_dir")
    for name in body:
        if name not in _FIELDS:
            raise UsageError(f"{place}.{name} is unknown{did_you_mean(str(name), _FIELDS)}")
    given = {name: body[name] for name in _FIELDS if body.get(name) is not None}
    kind, transform = given.pop("type", None), given.pop("transform", {})
    if kind not in _KINDS:
        raise UsageError(f"{place}.type must be one of {', '.join(_KINDS)}")
    if not isinstance(transform, str | Mapping):
        raise UsageError(f"{place}.transform must be the name of a converter, or a dictionary of them by workload")
    converters = {"": transform} if isinstance(transform, str) else dict(transform)
    _check_converters(f"{place}.transform", converters)
    for name, value in given.items():
        if not isinstance(value, str):
            raise UsageError(f"{place}.{name} must be a text, but is {value!r}")
    if given.get("secret"):
        try:
            parse_reference(given["secret"])
        except UsageError as error:
            raise UsageError(f"{place}.secret {error}") from error
    return Source(key=key, kind=str(kind), transform=converters, **given)


def _check_converters(place: str, converters: Mapping[str, Any]) -> None:
    for workload, name in converters.items():
        if workload and workload not in _WORKLOADS:
            raise UsageError(f"{place}.{workload} is not a workload{did_you_mean(str(workload), _WORKLOADS)}")
        if name and name not in CONVERTERS:
            raise UsageError(f"{place}: unknown converter {name}{did_you_mean(str(name), CONVERTERS)}")
