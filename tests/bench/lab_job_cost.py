"""The CPU of the lab's programs for a one-GPU Job, unchanged and with one change at a time.

    python tests/bench/lab_job_cost.py [--nodes 1000] [--jobs 300] [--rounds 3] [--try NAME]…

Each try is a second lab beside the unchanged one, and both complete the same number of Jobs at the same time, so that
other work on the machine affects both. Prints the median of the rounds, in milliseconds of CPU (user and system) a Job
for each program. Without a try only the unchanged lab runs. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perflab.cluster.api import connect, in_bulk
from perflab.control_plane import restarting
from perflab.control_plane.programs import MANIFESTS
from perflab.files import places
from perflab.processes import state
from perflab.processes.state import Lab

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.lab_commands import perflab
from tests.bench.processes import cpu_of

AS_IT_IS, CHANGED = "bench-cost", "bench-cost-changed"
NAMESPACE = "cost"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
EVENTS = f"/api/v1/namespaces/{NAMESPACE}/events"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings"
REFUSED = "refused-by-the-bench"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
POLICY_BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
APISERVER, CONTROLLERS, SCHEDULER = "kube-apiserver", "kube-controller-manager", "kube-scheduler"
SHOWN = (APISERVER, CONTROLLERS, "kwok", SCHEDULER, "etcd")
# the interval of checks for the last Job: each check costs the API server, too
LOOK_S = 2.0
# KWOK misses pods that are bound to nodes which it has not read yet
SETTLE_S = 5.0


@dataclass(frozen=True)
class Try:
    """A change to a lab: flags (all values of one) and environment of programs, unbound policies, refused resources.

    `unbound` are mutating admission policies of the lab; `refused` are resources of which none may be
    created. `merged` makes KWOK send its patches of a pod's status as merge patches: they then replace the conditions
    of other writers, so this only measures the possible gain.
    """

    flags: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    environment: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unbound: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    merged: bool = False

    @property
    def programs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.flags, *self.environment, *(("kwok",) if self.merged else ()))))


TRIES: Mapping[str, Try] = {
    "nothing changed": Try(),
    "managed fields of Jobs and pods": Try(unbound=("lab.psap.perf.managed-fields",)),
    "stacks grow with their use": Try(environment={APISERVER: {"GODEBUG": "adaptivestackstart=1"}}),
    "garbage of others collected later": Try(
        environment={name: {"GOGC": "400"} for name in (CONTROLLERS, SCHEDULER, "kwok", "etcd")}
    ),
    "no node authorizer": Try(flags={APISERVER: {"--authorization-mode": ["RBAC"]}}),
    "etcd commits ten times a second": Try(flags={"etcd": {"--backend-batch-interval": ["100ms"]}}),
    "no token of a service account": Try(
        flags={APISERVER: {"--disable-admission-plugins": ["TaintNodesByCondition,ServiceAccount"]}}
    ),
    "events refused": Try(refused=("events",)),
    "status by merge patches": Try(merged=True),
    "one thread at once, but the API server": Try(
        environment={name: {"GOMAXPROCS": "1"} for name in (CONTROLLERS, SCHEDULER, "kwok", "etcd")}
    ),
    "one thread at once": Try(environment={name: {"GOMAXPROCS": "1"} for name in SHOWN}),
}


def job(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": "none", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    pod = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    metadata = {"name": name}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"backoffLimit": 0, "template": pod}}


async def run_jobs(lab: Lab, count: int) -> dict[str, float]:
    """Run Jobs until `count` are complete, then delete them; return each program's milliseconds of CPU a Job."""
    async with connect(lab.folder, lab.server) as api:
        await api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        while not await api.exists(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"):
            await asyncio.sleep(0.1)
        before, started = cpu_of(lab), time.monotonic()
        names = [f"job-{number:05d}" for number in range(count)]
        await in_bulk(names, lambda name: api.create(JOBS, job(name)))
        while await api.list(f"{JOBS}?fieldSelector=status.successful%3D0&limit=1"):
            await asyncio.sleep(LOOK_S)
        seconds = time.monotonic() - started
        used = {name: 1000 * (now - before[name]) / count for name, now in cpu_of(lab).items()}
        for path in (PODS, JOBS, EVENTS):
            await api.delete(path)
        while await api.list(f"{JOBS}?limit=1"):
            await asyncio.sleep(LOOK_S)
    print(f"  {lab.name}: {count / seconds:.1f} Jobs/s, {sum(used.values()):.1f} ms", file=sys.stderr, flush=True)
    return used


def changed_command(command: Sequence[str | Path], flags: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    kept = [str(part) for part in command if str(part).partition("=")[0] not in flags]
    return (*kept, *(f"{name}={value}" for name, values in flags.items() for value in values))


def flags_of(lab: Lab, one: Try, name: str) -> dict[str, Sequence[str]]:
    flags = dict(one.flags.get(name, {}))
    if one.merged and name == "kwok":
        stages = lab.folder / "stages-merged.yaml"
        text = (MANIFESTS / "stages.yaml").read_text()
        stages.write_text(text.replace("type: strategic", "type: merge"))
        flags["--config"] = [str(lab.folder / "kwok.json"), str(stages)]
    return flags


def with_try(lab: Lab, one: Try) -> Lab:
    """Apply the try's changes to the lab."""
    programs = dict(lab.programs)
    for name in one.programs:
        command = changed_command(programs[name].command, flags_of(lab, one, name))
        environment = {**programs[name].environment, **one.environment.get(name, {})}
        programs[name] = dataclasses.replace(programs[name], command=command, environment=environment)
    asyncio.run(bind(lab, one.unbound, bound=False))
    asyncio.run(refuse(lab, one.refused))
    return restarted(dataclasses.replace(lab, programs=programs), one.programs)


def restarted(lab: Lab, names: Sequence[str]) -> Lab:
    lab.write()
    for name in names:
        lab = restarting.restart(lab, name)
    time.sleep(SETTLE_S)
    return lab


async def bind(lab: Lab, names: Sequence[str], *, bound: bool) -> None:
    async with connect(lab.folder, lab.server) as api:
        for name in names:
            if bound:
                await api.create(BINDINGS, {"metadata": {"name": name}, "spec": {"policyName": name}})
            else:
                await api.delete(f"{BINDINGS}/{name}")


async def refuse(lab: Lab, resources: Sequence[str]) -> None:
    """Make the API server refuse to create these resources; earlier refusals are lifted."""
    async with connect(lab.folder, lab.server) as api:
        for collection in (POLICIES, POLICY_BINDINGS):
            await api.delete(f"{collection}/{REFUSED}")
        if resources:
            rule = {
                "apiGroups": ["", "events.k8s.io"],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": [*resources],
            }
            spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "false"}]}
            await api.create(POLICIES, {"metadata": {"name": REFUSED}, "spec": spec})
            bound = {"policyName": REFUSED, "validationActions": ["Deny"]}
            await api.create(POLICY_BINDINGS, {"metadata": {"name": REFUSED}, "spec": bound})


async def side_by_side(labs: Sequence[Lab], count: int) -> list[dict[str, float]]:
    return await asyncio.gather(*(run_jobs(lab, count) for lab in labs))


def row(what: str, rounds: Sequence[Mapping[str, float]]) -> None:
    of = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
    total = statistics.median(sum(each.values()) for each in rounds)
    others = sum(value for name, value in of.items() if name not in SHOWN)
    cells = " | ".join(f"{of[name]:5.1f}" for name in SHOWN)
    print(f"| {what:<36} | {total:5.1f} | {cells} | {others:5.1f} |", flush=True)


def compare(lab: Lab, beside: Lab, name: str, options: argparse.Namespace) -> Lab:
    """Measure an unchanged lab beside one with a try; return the second one, unchanged again."""
    programs = beside.programs
    beside = with_try(beside, TRIES[name])
    rounds = measured((lab, beside), options)
    row("as it is", [each[0] for each in rounds])
    row(name, [each[1] for each in rounds])
    asyncio.run(bind(beside, TRIES[name].unbound, bound=True))
    asyncio.run(refuse(beside, ()))
    return restarted(dataclasses.replace(beside, programs=programs), TRIES[name].programs)


def measured(labs: Sequence[Lab], options: argparse.Namespace) -> list[list[dict[str, float]]]:
    asyncio.run(side_by_side(labs, options.warm))
    return [asyncio.run(side_by_side(labs, options.jobs)) for _ in range(options.rounds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--warm", type=int, default=50, help="Jobs before the first round, which are not counted.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--try", dest="tries", choices=TRIES, action="append", default=[], help="Repeatable.")
    parser.add_argument("--all", action="store_true", help="All tries.")
    options = parser.parse_args()
    chosen = list(TRIES) if options.all else options.tries
    print("| milliseconds of CPU a Job | all | API server | controllers | KWOK | scheduler | etcd | others |")
    print("|---|---|---|---|---|---|---|---|")
    with ExitStack() as stack:
        labs = []
        for name in (AS_IT_IS, CHANGED) if chosen else (AS_IT_IS,):
            stack.callback(perflab, "down", "--name", name)
            perflab("up", "--name", name, "--nodes", str(options.nodes))
            labs.append(state.get_running(places.home(), name))
        if not chosen:
            row("as it is", [each[0] for each in measured(labs, options)])
        for name in chosen:
            labs[1] = compare(labs[0], labs[1], name, options)


if __name__ == "__main__":
    main()
