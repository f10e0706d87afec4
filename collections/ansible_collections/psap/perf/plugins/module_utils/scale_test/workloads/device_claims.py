"""Claims of devices (dynamic resource allocation) of the pods of a submission.

A claim is for each pod, from a ResourceClaimTemplate, or shared by all pods of a workload. Where nodes offer GPUs only
as devices, the GPUs that pods request as an extended resource become such a claim, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.gpu_supply import GPU, GPU_DRIVER, is_gpu_class
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.manifests import (
    Manifest,
    Size,
    gpus_of,
    pod_templates,
    size_of,
)

API_VERSION = "resource.k8s.io/v1"
CLAIM, TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"
ADMIN_ACCESS = "resource.kubernetes.io/admin-access"
"""Label of namespaces in which claims may have admin access."""
# Kubernetes' limits
_MOST_DEVICES, _MOST_ALTERNATIVES = 32, 8
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
# the name of the claim that replaces the extended resource
_GPUS = "gpus"


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """Devices of one class that match all selectors (CEL); a *count* of 0 requests all of a node."""

    name: str
    device_class: str = ""
    count: int = 1
    selectors: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise UsageError if the request is invalid."""
        _check_name(self.name)
        if self.count < 0:
            raise UsageError(f"the request {self.name} has the count {self.count}; it must be at least 0 (all)")

    @property
    def gpus(self) -> int:
        """The number of requested GPUs; 0 if it is unknown, or the devices are no GPUs."""
        return self.count if is_gpu_class(self.device_class) else 0

    def fields(self) -> dict[str, Any]:
        """Return the fields of Kubernetes except the name."""
        number = {"allocationMode": "ExactCount", "count": self.count} if self.count else {"allocationMode": "All"}
        found: dict[str, Any] = {"deviceClassName": self.device_class, **number}
        if self.selectors:
            found["selectors"] = [{"cel": {"expression": expression}} for expression in self.selectors]
        return found


@dataclass(frozen=True, slots=True)
class ClaimRequest(DeviceRequest):
    """A request of a claim: devices of a class, or the first of several alternatives that can be allocated."""

    admin_access: bool = False
    first_available: tuple[DeviceRequest, ...] = ()

    def check(self) -> None:
        """Raise UsageError if the request is invalid."""
        DeviceRequest.check(self)
        if bool(self.device_class) == bool(self.first_available):
            raise UsageError(f"the request {self.name} needs either a device_class or first_available")
        if self.first_available and (self.count != 1 or self.selectors or self.admin_access):
            raise UsageError(
                f"the request {self.name} has first_available: set count and selectors of each alternative; "
                "alternatives have no admin_access"
            )
        if len(self.first_available) > _MOST_ALTERNATIVES:
            raise UsageError(f"the request {self.name} has more than {_MOST_ALTERNATIVES} alternatives")
        _check_unique("alternative", [each.name for each in self.first_available])
        for each in self.first_available:
            each.check()
            if not each.device_class:
                raise UsageError(f"the alternative {each.name} of the request {self.name} needs a device_class")

    @property
    def gpus(self) -> int:
        """The number of GPUs that the claim holds, those of the first alternative; observing them holds none."""
        if self.admin_access:
            return 0
        first = next(iter(self.first_available), None)
        return first.gpus if first else super(ClaimRequest, self).gpus

    def document(self) -> dict[str, Any]:
        """Return the request of a ResourceClaim."""
        if self.first_available:
            alternatives = [{"name": each.name, **each.fields()} for each in self.first_available]
            return {"name": self.name, "firstAvailable": alternatives}
        access = {"adminAccess": True} if self.admin_access else {}
        return {"name": self.name, "exactly": {**self.fields(), **access}}


@dataclass(frozen=True, slots=True)
class DeviceClaim:
    """A claim of each pod of a workload, or one that they share.

    Attributes:
        match_attributes: Attributes whose values are the same for all devices of the claim.
    """

    name: str
    requests: tuple[ClaimRequest, ...] = ()
    shared: bool = False
    match_attributes: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise UsageError if the claim is invalid."""
        _check_name(self.name)
        if self.name == _GPUS:
            raise UsageError(f"a claim cannot have the name {_GPUS}, which the claim of the setting gpus has")
        if not self.requests:
            raise UsageError(f"the claim {self.name} has no requests")
        _check_unique("request", [each.name for each in self.requests])
        for each in self.requests:
            each.check()
        if sum(each.count for each in self.requests) > _MOST_DEVICES:
            raise UsageError(f"the claim {self.name} requests more than {_MOST_DEVICES} devices")

    def plan(self) -> dict[str, Any]:
        """Return the claim as :class:`PodClaims` reads it, in plain types."""
        devices: dict[str, Any] = {"requests": [each.document() for each in self.requests]}
        if self.match_attributes:
            devices["constraints"] = [{"matchAttribute": attribute} for attribute in self.match_attributes]
        gpus = sum(each.gpus for each in self.requests)
        return {"name": self.name, "shared": self.shared, "gpus": gpus, "devices": devices}


def check_device_claims(claims: Sequence[DeviceClaim]) -> None:
    """Check the names and requests of *claims*.

    Raises:
        UsageError: If Kubernetes would refuse one.
    """
    _check_unique("claim", [claim.name for claim in claims])
    for claim in claims:
        claim.check()


def needs_admin_access(claims: Sequence[DeviceClaim]) -> bool:
    """Return whether a claim needs a namespace with the label `ADMIN_ACCESS`."""
    return any(request.admin_access for claim in claims for request in claim.requests)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid name: write a-z, 0-9 and -, at most 63 of them")


def _check_unique(what: str, names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"the {what} {twice!r} occurs twice")


@dataclass(frozen=True, slots=True)
class PodClaims:
    """The claims of the pods of workloads of one kind.

    Attributes:
        identity: The submission's, with which the names of its templates begin.
        planned: Claims as :meth:`DeviceClaim.plan` returns them.
        of_gpus: Whether GPUs become a claim.
    """

    identity: str
    planned: Sequence[Mapping[str, Any]] = ()
    of_gpus: bool = False

    def join(self, manifest: Manifest, workload: str) -> None:
        """Add the claims to the pods of the manifest of *workload*.

        Raises:
            UsageError: If it has no pod template.
        """
        templates = pod_templates(manifest)
        if self.planned and not templates:
            raise UsageError(f"a {manifest['kind']} has no pod template whose pods could claim devices")
        for template in templates:
            if self.of_gpus:
                self._replace_gpus(template)
            for claim in self.planned:
                reference = (
                    {"resourceClaimName": _claim_name(workload, claim)}
                    if claim["shared"]
                    else {"resourceClaimTemplateName": f"{self.identity}-{claim['name']}"}
                )
                _refer(template, template["spec"]["containers"][0], {"name": claim["name"], **reference})

    def _replace_gpus(self, template: Manifest) -> None:
        """Replace the extended resource of the pod by a claim for as many GPUs."""
        count = gpus_of(template)
        if not count:
            return
        user = next(each for each in template["spec"]["containers"] if _requested(each))
        for container in template["spec"]["containers"]:
            for amounts in _amounts(container):
                amounts.pop(GPU, None)
        name = f"{self.identity}-{_GPUS}-{count}"
        _refer(template, user, {"name": _GPUS, "resourceClaimTemplateName": name})

    def size_of(self, manifest: Manifest, pods: int) -> Size:
        """Return the size of a workload with the GPUs of its claims; *pods* is the number of an unknown kind."""
        size = size_of(manifest, pods)
        shared, own = (
            sum(claim["gpus"] for claim in self.planned if claim["shared"] is shared) for shared in (True, False)
        )
        return Size(size.pods, size.gpus + shared + own * size.pods)

    def templates(self, manifest: Manifest, labels: Mapping[str, str]) -> Iterator[Manifest]:
        """Yield the ResourceClaimTemplates that the pods of *manifest* will name, with *labels*, as their claims."""
        wanted = {claim["name"]: claim["devices"] for claim in self.planned if not claim["shared"]}
        if self.of_gpus:
            counts = {gpus_of(template) for template in pod_templates(manifest)} - {0}
            wanted |= {f"{_GPUS}-{count}": _whole_gpus(count) for count in sorted(counts)}
        for name, devices in wanted.items():
            metadata = {"name": f"{self.identity}-{name}", "namespace": manifest["metadata"]["namespace"]}
            yield {
                "apiVersion": API_VERSION,
                "kind": TEMPLATE,
                "metadata": {**metadata, "labels": dict(labels)},
                "spec": {"metadata": {"labels": dict(labels)}, "spec": {"devices": devices}},
            }

    def shared(self, workload: Mapping[str, Any]) -> Iterator[Manifest]:
        """Yield the claims that the pods of a workload share; *workload* is its metadata."""
        for claim in self.planned:
            if claim["shared"]:
                metadata = {**workload, "name": _claim_name(workload["name"], claim)}
                spec = {"devices": claim["devices"]}
                yield {"apiVersion": API_VERSION, "kind": CLAIM, "metadata": metadata, "spec": spec}


def _claim_name(workload: str, claim: Mapping[str, Any]) -> str:
    return f"{workload}-{claim['name']}"


def _requested(container: Manifest) -> bool:
    return any(GPU in amounts for amounts in _amounts(container))


def _amounts(container: Manifest) -> list[dict[str, Any]]:
    """Return the requests and limits of a container, as far as it has them."""
    resources = container.get("resources") or {}
    return [resources[key] for key in ("requests", "limits") if resources.get(key)]


def _refer(template: Manifest, container: Manifest, reference: dict[str, str]) -> None:
    template["spec"].setdefault("resourceClaims", []).append(reference)
    container.setdefault("resources", {}).setdefault("claims", []).append({"name": reference["name"]})


def _whole_gpus(count: int) -> dict[str, Any]:
    return DeviceClaim(_GPUS, (ClaimRequest("gpu", GPU_DRIVER, count),)).plan()["devices"]  # type: ignore[no-any-return]
