"""Controllers that a lab has no program of, played by small ones of its own: `perflab up --emulate NAME`.

An emulator is a package in this folder with

* a docstring that says what is emulated and what is not,
* `crds.yaml`: the kinds that it serves, installed before the lab's controllers start (may be absent),
* `start.yaml`: the objects that a cluster has of it from the start, if any; `start.py` makes them,
* `controllers(cluster)`: its controllers, each over stores of the cluster that they may share,
* `STEPS` and `NUMBERS`: what can be delayed, made to fail, or set, and what each is (may be absent; see `steps.py`).

Each runs as a process of its own, `emulator-NAME`, started, stopped and restarted as the lab's other programs. What
an emulator creates carries the annotation `lab.psap.perf/emulated: NAME`. The volumes' is part of every lab.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# in the order in which `--emulate` lists them; the modules are imported only by the processes that run them
OFFERED = ("runai", "kueue", "ray")
# what every lab has
STANDARD = ("volumes", "trainers")
KUBERNETES, OPENSHIFT = "kubernetes", "openshift"
# what a lab of each profile has besides
PROFILES: Mapping[str, tuple[str, ...]] = {
    KUBERNETES: (),
    OPENSHIFT: ("openshift", "olm", "machines", "monitoring", "nfd", "gpu_operator", "rhoai", "ray", "kueue"),
}


def chosen(profile: str, emulate: Iterable[str]) -> tuple[str, ...]:
    """The emulators of a lab: what every lab has, its profile's, and those that were asked for; each once."""
    return tuple(dict.fromkeys((*STANDARD, *PROFILES[profile], *emulate)))


def component(name: str) -> str:
    """The name of an emulator's program, port and log."""
    return f"emulator-{name}"
