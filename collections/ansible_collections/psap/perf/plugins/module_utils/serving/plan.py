"""What the flow kserve does at the same time: models or users as lanes, in which namespaces, in how many rounds."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods, most_gpus
from ansible_collections.psap.perf.plugins.module_utils.serving.catalogue import served_model

SINGLE, MULTI, LONGEVITY, SCALE = "single", "multi", "longevity", "scale"
_MODEL = "kserve_model_name"


@dataclass(frozen=True, slots=True)
class KservePlan:
    """The cells, and what the only one of a mode that does several things at once has.

    :param cells: ``index``, ``name`` and ``values`` of each.
    :param models: those that are served at the same time, by the place in their list: ``m0``, ``m1``, …
    :param lanes: the names of the lanes of each region of the cell.
    :param rounds: how often all models are loaded together.
    :param loads: how many loads of a model a round has, by its place.
    :param round_s: from the begin of a round to that of the next.
    :param namespaces: where models are.
    :param gpus: the most that a pod of any model has.
    :param pods: those of each cell that are there at once.
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
    settings: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], forks: int, catalogue: Mapping[str, Any]
) -> KservePlan:
    """What *settings* of the flow and the *cells* of its matrix come to.

    :param forks: how many tasks Ansible runs at once.
    :param catalogue: all models by name, as :func:`served_model` wants them.
    :raises UsageError: when a mode that does several things at once has several cells, or more lanes than forks, and
        for a model that the runtime does not serve.
    """
    mode, namespace = settings["kserve_mode"], settings["kserve_namespace"]
    models: dict[str, str] = {}
    if mode in (MULTI, LONGEVITY):
        models = {f"m{place}": model for place, model in enumerate(settings["kserve_served_models"])}
    pods = tuple(tuple(_pods(settings, cell["values"], models.values(), catalogue)) for cell in cells)
    gpus = most_gpus(pods)
    if mode == SINGLE:
        return KservePlan(tuple(cells), {}, {}, 1, {}, 0.0, (namespace,), gpus, pods)
    lanes: dict[str, list[str]] = {}
    namespaces = [namespace]
    if mode == SCALE:
        lanes["user"] = [f"u{number}" for number in range(settings["kserve_users"])]
        namespaces = [f"{namespace}-{user}" for user in lanes["user"]]
    else:
        lanes = {"deploy": list(models), "load": list(models)}
        if mode == MULTI:
            # one after the other
            lanes["alone"] = ["models"]
        # the dimension is of no use here, and a label of it would be wrong
        cells = [{**cell, "values": _without(cell["values"], _MODEL)} for cell in cells]
    _check(mode, len(cells), max(map(len, lanes.values())), forks)
    round_s = settings["kserve_duration"] * len(settings["kserve_concurrency"]) + settings["kserve_sleep_interval"]
    # the last one when the time is over
    rounds = math.ceil(settings["kserve_total_duration"] / round_s) + 1 if mode == LONGEVITY else 1
    loads = {place: _loads(settings, model) for place, model in models.items()}
    return KservePlan(tuple(cells), models, lanes, rounds, loads, round_s, tuple(namespaces), gpus, pods)


def _pods(
    settings: Mapping[str, Any], values: Mapping[str, Any], together: Collection[str], catalogue: Mapping[str, Any]
) -> Iterator[Pods]:
    """Those of the models of a cell: *together*, or the cell's own."""
    one = {**settings, **values}
    models = together or [one[_MODEL]]
    # KServe starts a model that it may scale to zero, too
    replicas = max(one["kserve_min_replicas"], 1)
    times = one["kserve_users"] * one["kserve_models_per_user"] if one["kserve_mode"] == SCALE else 1
    for name in models:
        model = served_model(catalogue, name, one["kserve_runtime"])
        yield Pods(times * replicas, model.cpu, model.memory, model.gpus)


def _loads(settings: Mapping[str, Any], model: str) -> int:
    """With how many of the numbers of users a model is loaded."""
    most = settings["kserve_max_concurrency"].get(model, math.inf)
    return sum(users <= most for users in settings["kserve_concurrency"])


def _without(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in values.items() if each != name}


def _check(mode: str, cells: int, most: int, forks: int) -> None:
    if cells > 1:
        raise UsageError(
            f"kserve_mode: {mode} has one cell, but the settings make {cells}; leave the lists of dimensions out"
        )
    if most > forks:
        raise UsageError(
            f"kserve_mode: {mode} has a fork of Ansible for each model or user, but {most} have {forks} forks; give it "
            "more with ANSIBLE_FORKS"
        )
