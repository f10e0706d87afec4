"""Which hosts to ask for: those that fulfil a request, in an order, and of every other one why not."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import QuadsError
from ansible_collections.psap.perf.plugins.module_utils.quads.labels import drivers, options_of
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Disk, Host, Interface


@dataclass(frozen=True, slots=True)
class DiskRequest:
    """At least *count* disks whose type has *type* in it, of at least *size_gb* each."""

    type: str = ""
    size_gb: int = 0
    count: int = 1

    def lacking(self, disks: Sequence[Disk]) -> str:
        """What is lacking, or nothing."""
        found = sum(disk.count for disk in disks if self._fits(disk))
        wanted = " ".join(filter(None, (self.type, "disks", f"of {self.size_gb} GB" if self.size_gb else "")))
        return "" if found >= self.count else f"has {found} of {self.count} {wanted}"

    def _fits(self, disk: Disk) -> bool:
        return self.type.lower() in disk.type.lower() and disk.size_gb >= self.size_gb


@dataclass(frozen=True, slots=True)
class NicRequest:
    """At least *count* interfaces of a vendor (a part of its name), a speed at least, and a driver."""

    vendor: str = ""
    gigabits: float = 0
    driver: str = ""
    count: int = 1

    def lacking(self, interfaces: Sequence[Interface]) -> str:
        """What is lacking, or nothing."""
        found = sum(self._fits(each) for each in interfaces)
        speed = f"of {self.gigabits:g} Gbit/s" if self.gigabits else ""
        driver = f"with driver {self.driver}" if self.driver else ""
        wanted = " ".join(filter(None, (self.vendor, "interfaces", speed, driver)))
        return "" if found >= self.count else f"has {found} of {self.count} {wanted}"

    def _fits(self, nic: Interface) -> bool:
        return (
            self.vendor.lower() in nic.vendor.lower()
            and nic.gigabits >= self.gigabits
            and (not self.driver or self.driver in drivers(nic.vendor, nic.gigabits))
        )


@dataclass(frozen=True, slots=True)
class HostRequest:
    """What hosts are wanted, and how many.

    :param count: how many; 0 for as many as there are.
    :param at_least: fewer are none at all.
    :param models: any of these; all sets of several labels must hold.
    :param hosts: only these, if any are named; ``exclude`` not these. Both may be patterns such as ``*-r640.*``.
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
        """Why *host* is not what is wanted; empty if it is."""
        return "; ".join(filter(None, self._objections(host)))

    def _objections(self, host: Host) -> Iterator[str]:
        if self.hosts and not _matches(host.name, self.hosts):
            yield "is not among the hosts asked for"
        if _matches(host.name, self.exclude):
            yield "is excluded"
        if host.broken or host.retired:
            yield "is broken" if host.broken else "is retired"
        if host.open is False:
            yield "is not open to self-scheduling"
        for models in self.models:
            if host.model.upper() not in {model.upper() for model in models}:
                yield f"is a {host.model or 'host without a model'}, not {' or '.join(models)}"
        yield from (request.lacking(host.disks) for request in self.disks)
        yield from (request.lacking(host.interfaces) for request in self.nics)
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
    """What was chosen: *hosts*, *substitutes* in case one of them is refused, and why not the others."""

    hosts: tuple[Host, ...]
    substitutes: tuple[Host, ...]
    refused: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """One line for people."""
        names = ", ".join(host.name.partition(".")[0] for host in self.hosts)
        others = f"; not {_reasons(self.refused)}" if self.refused else ""
        return f"{len(self.hosts)} of {len(self.hosts) + len(self.substitutes)} that fit: {names}{others}"


def host_request(
    options: Mapping[str, Any], labels: Sequence[str] = (), further: Mapping[str, Any] | None = None
) -> HostRequest:
    """The request that the options of the verbs describe, together with what *labels* stand for.

    :raises UsageError: for an unknown label or option, or numbers that contradict each other.
    """
    parts = [options, *options_of(labels, further or {})]
    try:
        request = HostRequest(
            count=options["count"],
            at_least=options["at_least"] or options["count"] or 1,
            models=tuple(tuple(part["models"]) for part in parts if part.get("models")),
            hosts=tuple(options.get("hosts") or ()),
            exclude=tuple(options.get("exclude") or ()),
            disks=tuple(DiskRequest(**_given(each)) for part in parts for each in part.get("disks") or ()),
            nics=tuple(NicRequest(**_given(each)) for part in parts for each in part.get("nics") or ()),
            processor=next((part["processor"] for part in parts if part.get("processor")), ""),
            **{
                name: max(int(part.get(name) or 0) for part in parts)
                for name in ("memory_gb", "cores", "threads", "gpus")
            },
        )
    except (TypeError, ValueError) as error:
        raise UsageError(f"a label or request for hosts cannot be understood: {error}") from error
    if request.count < 0 or request.at_least < 1 or (request.count and request.at_least > request.count):
        raise UsageError(
            f"at least {request.at_least} of {request.count} hosts makes no sense: at_least is 1 or more, count is not "
            "less; a count of 0 means as many as there are"
        )
    return request


def select(hosts: Iterable[Host], request: HostRequest, busy: Iterable[Host] = ()) -> Selection:
    """Choose: those of the commonest model first, so that a cluster is of one kind, then by name.

    :param busy: further hosts of the lab, which are not free at the time.
    :raises QuadsError: when fewer than ``at_least`` fit.
    """
    objections = {host.name: (host, request.objection(host)) for host in hosts}
    fitting = [host for host, objection in objections.values() if not objection]
    models = [host.model for host in fitting]
    fitting.sort(key=lambda host: (-models.count(host.model), host.model, host.name))
    refused = {name: objection for name, (_host, objection) in sorted(objections.items()) if objection}
    refused |= {host.name: request.objection(host) or "is not free for the time asked for" for host in busy}
    number = request.count or len(fitting)
    if len(fitting) < request.at_least:
        raise too_few(request, fitting, refused)
    return Selection(tuple(fitting[:number]), tuple(fitting[number:]), refused)


def too_few(request: HostRequest, fitting: Sequence[Host], refused: Mapping[str, str]) -> QuadsError:
    """The error of a lab that has too few."""
    error = QuadsError(
        f"QUADS has {len(fitting)} of at least {request.at_least} hosts that fit: "
        f"{_reasons(refused) or 'it lists no free host'}; ask for fewer, for less, or later"
    )
    error.result = {"hosts": [host.name for host in fitting], "refused": dict(refused)}
    return error


def _reasons(refused: Mapping[str, str]) -> str:
    """The commonest ones, with how many hosts each is about, and one of them."""
    reasons: dict[str, list[str]] = {}
    for name, reason in refused.items():
        reasons.setdefault(reason, []).append(name)
    return "; ".join(
        f"{len(names)} host{'s' * (len(names) > 1)} ({names[0]}{' …' * (len(names) > 1)}) {reason}"
        for reason, names in sorted(reasons.items(), key=lambda item: -len(item[1]))[:6]
    )


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
