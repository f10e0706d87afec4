"""Selection of hosts: which ones meet a request, and why the others do not."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.conditions import DiskRequest, HostConditions, NicRequest
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import QuadsError
from ansible_collections.psap.perf.plugins.module_utils.quads.labels import conditions_of
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Host


@dataclass(frozen=True, slots=True)
class HostOptions:
    """A user's request for hosts, by name and by label.

    Args:
        count: How many; 0 for all.
        at_least: The smallest number that is accepted; 0 for *count*, or 1 if that is 0.
        hosts: Names or patterns such as ``*-r640.*``; empty for all hosts.
        exclude: Names or patterns of hosts that are not chosen.
        labels: Names of conditions.
        more_labels: The labels of a lab.
    """

    count: int
    at_least: int
    hosts: tuple[str, ...]
    exclude: tuple[str, ...]
    labels: tuple[str, ...]
    more_labels: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class HostRequest:
    """A request for a number of hosts that meet all conditions.

    Args:
        count: How many; 0 for all.
        at_least: The smallest number that is accepted.
        models: Sets of models; a host is of one model of each set.
        hosts: Names or patterns; empty for all hosts.
        exclude: Names or patterns of hosts that are not chosen.
    """

    count: int = 1
    at_least: int = 1
    models: tuple[tuple[str, ...], ...] = ()
    hosts: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    disks: tuple[DiskRequest, ...] = ()
    nics: tuple[NicRequest, ...] = ()
    memory_gb: int = 0
    cores: int = 0
    threads: int = 0
    processor: str = ""
    gpus: int = 0

    def objection(self, host: Host) -> str:
        """Return why *host* does not meet the request; empty if it does."""
        return "; ".join(filter(None, self._objections(host)))

    def _objections(self, host: Host) -> Iterator[str]:
        if self.hosts and not _matches(host.name, self.hosts):
            yield "is not among the requested hosts"
        if _matches(host.name, self.exclude):
            yield "is excluded"
        if host.broken or host.retired:
            yield "is broken" if host.broken else "is retired"
        if host.open is False:
            yield "is not open to self-scheduling"
        for models in self.models:
            if host.model.upper() not in {model.upper() for model in models}:
                yield f"is a {host.model or 'host without a model'}, not {' or '.join(models)}"
        yield from (request.missing(host.disks) for request in self.disks)
        yield from (request.missing(host.interfaces) for request in self.nics)
        yield from self._of_processors(host)

    def _of_processors(self, host: Host) -> Iterator[str]:
        processors = [each for each in host.processors if not each.is_gpu]
        for what, wanted, found in (
            ("GB of memory", self.memory_gb, host.memory_gb),
            ("cores", self.cores, sum(each.cores for each in processors)),
            ("threads", self.threads, sum(each.threads for each in processors)),
            ("GPUs in the lab's data", self.gpus, host.gpus),
        ):
            if found < wanted:
                yield f"has {found} of {wanted} {what}"
        named = (f"{each.vendor} {each.product}".lower() for each in processors)
        if self.processor and not any(self.processor.lower() in name for name in named):
            yield f"has no processor {self.processor}"


@dataclass(frozen=True, slots=True)
class Selection:
    """Chosen *hosts*, *substitutes* in case one of them is refused, and the reasons against the other hosts."""

    hosts: tuple[Host, ...]
    substitutes: tuple[Host, ...]
    refused: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return one line of text."""
        names = ", ".join(host.name.partition(".")[0] for host in self.hosts)
        others = f"; not {_reasons(self.refused)}" if self.refused else ""
        return f"{len(self.hosts)} of {len(self.hosts) + len(self.substitutes)} matching hosts: {names}{others}"


def host_request(options: HostOptions, conditions: HostConditions) -> HostRequest:
    """Return the request for hosts that meet *conditions* and those of the labels in *options*.

    Raises:
        UsageError: If a label is unknown or invalid, or the numbers contradict each other.
    """
    parts = [conditions, *conditions_of(options.labels, options.more_labels)]
    request = HostRequest(
        count=options.count,
        at_least=options.at_least or options.count or 1,
        models=tuple(part.models for part in parts if part.models),
        hosts=options.hosts,
        exclude=options.exclude,
        disks=tuple(each for part in parts for each in part.disks),
        nics=tuple(each for part in parts for each in part.nics),
        memory_gb=max(part.memory_gb for part in parts),
        cores=max(part.cores for part in parts),
        threads=max(part.threads for part in parts),
        processor=next((part.processor for part in parts if part.processor), ""),
        gpus=max(part.gpus for part in parts),
    )
    if request.count < 0 or request.at_least < 1 or (request.count and request.at_least > request.count):
        raise UsageError(
            f"at least {request.at_least} of {request.count} hosts is impossible: set at_least to 1 or more, and count "
            "to at_least or more, or to 0 for all hosts"
        )
    return request


def select(hosts: Iterable[Host], request: HostRequest, busy: Iterable[Host] = ()) -> Selection:
    """Choose hosts of the most common model first, so that a cluster is of one kind, then by name.

    Args:
        hosts: The hosts that are free.
        request: How many hosts, and their conditions.
        busy: The other hosts of the lab.

    Raises:
        QuadsError: If too few hosts meet the request.
    """
    objections = {host.name: (host, request.objection(host)) for host in hosts}
    fitting = [host for host, objection in objections.values() if not objection]
    models = [host.model for host in fitting]
    fitting.sort(key=lambda host: (-models.count(host.model), host.model, host.name))
    refused = {name: objection for name, (_host, objection) in sorted(objections.items()) if objection}
    refused |= {host.name: request.objection(host) or "is not free for the requested time" for host in busy}
    number = request.count or len(fitting)
    if len(fitting) < request.at_least:
        raise too_few(request, fitting, refused)
    return Selection(tuple(fitting[:number]), tuple(fitting[number:]), refused)


def too_few(request: HostRequest, fitting: Sequence[Host], refused: Mapping[str, str]) -> QuadsError:
    """Return the error of a lab that has too few hosts."""
    error = QuadsError(
        f"QUADS has {len(fitting)} of at least {request.at_least} matching hosts: "
        f"{_reasons(refused) or 'it lists no free host'}; request fewer hosts, less of each, or try later"
    )
    error.result = {"hosts": [host.name for host in fitting], "refused": dict(refused)}
    return error


def _reasons(refused: Mapping[str, str]) -> str:
    """Return the most common reasons, each with its number of hosts and the name of one."""
    reasons: dict[str, list[str]] = {}
    for name, reason in refused.items():
        reasons.setdefault(reason, []).append(name)
    return "; ".join(
        f"{len(names)} host{'s' * (len(names) > 1)} ({names[0]}{' …' * (len(names) > 1)}) {reason}"
        for reason, names in sorted(reasons.items(), key=lambda item: -len(item[1]))[:6]
    )


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
