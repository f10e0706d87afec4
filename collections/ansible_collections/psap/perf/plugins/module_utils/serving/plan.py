"""The concurrency of the flow kserve: models or users as lanes, their namespaces, and the rounds."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods, most_gpus
from ansible_collections.psap.perf.plugins.module_utils.serving.catalogue import served_model
from ansible_collections.psap.perf.plugins.module_utils.serving.kserve_loads import refuse_kserve_loads

MULTI, LONGEVITY, SCALE = "multi", "longevity", "scale"
CONCURRENT = (MULTI, LONGEVITY, SCALE)
"""The modes with several models or users; a cell of any other mode has one model."""
_MODEL = "kserve_model_name"


@dataclass(frozen=True, slots=True)
class KservePlan:
    """The cells, and the models, lanes and rounds of the single cell of a concurrent mode.

    Attributes:
        cells: ``index``, ``name`` and ``values`` of each.
        models: The models that are served concurrently, by their place in the list: ``m0``, ``m1``, …
        lanes: The names of the lanes of each region of the cell.
        rounds: How often all models are loaded together.
        loads: How many loads of a model a round has, by the model's place.
        round_s: Seconds from the start of a round to the start of the next.
        namespaces: The models' namespaces.
        gpus: The maximum of a pod of any model.
        pods: The concurrent pods of each cell.
    """

    cells: tuple[Mapping[str, Any], ...]
    models: Mapping[str, str]
    lanes: Mapping[str, Sequence[str]]
    rounds: int
    loads: Mapping[str, int]
    round_s: float
    namespaces: tuple[str, ...]
    gpus: int
    pods: tuple[tuple[Pods, ...], ...]


def kserve_plan(
    settings: Mapping[str, Any],
    cells: Sequence[Mapping[str, Any]],
    forks: int,
    catalogue: Mapping[str, Any],
    users: Sequence[int] | None = None,
) -> KservePlan:
    """Return the plan for the flow's *settings* and the *cells* of its matrix.

    Args:
        forks: How many tasks Ansible runs concurrently.
        catalogue: All models by name, in the format of `served_model`.
        users: The users of mode scale that this process runs; all by default.

    Raises:
        UsageError: If a concurrent mode has several cells, or more lanes than forks, the runtime does not serve a
            model, or a generator cannot create the load.
    """
    mode, namespace = settings["kserve_mode"], settings["kserve_namespace"]
    if mode != SCALE:
        for cell in cells:
            refuse_kserve_loads({**settings, **cell["values"]})
    models: dict[str, str] = {}
    if mode in (MULTI, LONGEVITY):
        models = {f"m{place}": model for place, model in enumerate(settings["kserve_served_models"])}
    pods = tuple(tuple(_pods(settings, cell["values"], models.values(), catalogue)) for cell in cells)
    gpus = most_gpus(pods)
    if mode not in CONCURRENT:
        return KservePlan(tuple(cells), {}, {}, 1, {}, 0.0, (namespace,), gpus, pods)
    lanes: dict[str, list[str]] = {}
    namespaces = [namespace]
    if mode == SCALE:
        named = [f"u{number}" for number in (range(settings["kserve_users"]) if users is None else users)]
        namespaces = [f"{namespace}-{user}" for user in named]
        # the only cell runs pods
        lanes["user"] = [] if settings["kserve_users_as"] == "pods" else named
    else:
        lanes = {"deploy": list(models), "load": list(models)}
        if mode == MULTI:
            # sequentially
            lanes["alone"] = ["models"]
        # the dimension does not apply here, and its label would be wrong
        cells = [{**cell, "values": _without(cell["values"], _MODEL)} for cell in cells]
    _check(mode, len(cells), max(map(len, lanes.values())), forks)
    round_s = settings["kserve_duration"] * len(settings["kserve_concurrency"]) + settings["kserve_sleep_interval"]
    # the last one starts when the time is over
    rounds = math.ceil(settings["kserve_total_duration"] / round_s) + 1 if mode == LONGEVITY else 1
    loads = {place: _loads(settings, model) for place, model in models.items()}
    return KservePlan(tuple(cells), models, lanes, rounds, loads, round_s, tuple(namespaces), gpus, pods)


def _pods(
    settings: Mapping[str, Any], values: Mapping[str, Any], together: Collection[str], catalogue: Mapping[str, Any]
) -> Iterator[Pods]:
    """Yield the pods of a cell's models: *together*, or the cell's own."""
    one = {**settings, **values}
    models = together or [one[_MODEL]]
    # KServe also starts a model that it may scale to zero
    replicas = max(one["kserve_min_replicas"], 1)
    times = one["kserve_users"] * one["kserve_models_per_user"] if one["kserve_mode"] == SCALE else 1
    for name in models:
        model = served_model(catalogue, name, one["kserve_runtime"])
        yield Pods(times * replicas, model.cpu, model.memory, model.gpus)


def _loads(settings: Mapping[str, Any], model: str) -> int:
    """Return the number of loads of a model, one for each number of users."""
    most = settings["kserve_max_concurrency"].get(model, math.inf)
    return sum(users <= most for users in settings["kserve_concurrency"])


def _without(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in values.items() if each != name}


def _check(mode: str, cells: int, most: int, forks: int) -> None:
    if cells > 1:
        raise UsageError(
            f"kserve_mode: {mode} has one cell, but the settings make {cells}; remove the lists of dimensions"
        )
    if most > forks:
        raise UsageError(
            f"kserve_mode: {mode} needs a fork of Ansible for each model or user, {most}, but has {forks} forks; allow "
            "more with ANSIBLE_FORKS"
        )
