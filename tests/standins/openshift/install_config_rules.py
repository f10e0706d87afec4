"""The rules by which openshift-install refuses install-configs before any request to AWS. For tests only.

Written after the installer's ``pkg/types/validation``, ``pkg/types/aws/validation``, ``pkg/validate`` and
``pkg/hostcrypt`` of release 4.19, in this project's words: which field, and why. They cover the project's fields.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

_FIELDS = {
    "apiVersion", "metadata", "baseDomain", "controlPlane", "compute", "networking", "platform", "publish", "fips",
    "pullSecret", "sshKey",
}  # fmt: skip
_POOL_FIELDS = {"name", "replicas", "architecture", "hyperthreading", "platform"}
_AWS_FIELDS = {"region", "userTags", "propagateUserTags", "vpc", "subnets", "hostedZone"}
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_LONGEST_NAME = 54
_OVN = {"internal": "100.64.0.0/16", "transit": "100.88.0.0/16", "masquerade": "169.254.0.0/17"}
_WITH_IOPS, _WITHOUT = ("io1", "io2"), ("gp2", "gp3", "st1", "sc1", "standard")
_TAG = re.compile(r"[0-9A-Za-z_.:/=+\-@ ]+")
_MOST_TAGS = 25
_FIPS_KEY = re.compile(r"ecdsa-sha2-nistp\d{3}|ssh-rsa")

Network = ipaddress.IPv4Network


def refusals(config: dict[str, Any], *, fips_host: bool = False, payload: str = "amd64") -> list[str]:
    """Return the errors of *config*, a line for each field; empty if the installer accepts it.

    Args:
        config: The document ``install-config.yaml``.
        fips_host: Whether the program is FIPS-capable, and its host in FIPS mode.
        payload: The architecture of the program's release.
    """
    unknown = sorted(set(config) - _FIELDS)
    if unknown:
        return [f'unknown field "{unknown[0]}"']
    rules = (_names, _key, _networking, _platform, _pools, _pull_secret)
    found = [line for rule in rules for line in rule(config)]
    architecture = config["controlPlane"]["architecture"]
    if payload not in (architecture, "multi", "unknown"):
        found.append(f"controlPlane.architecture: Invalid value: {architecture} from a release payload of {payload}")
    return [*found, *_fips(config, fips_host)]


def public_key(algorithm: str) -> str:
    """Return a line that the installer parses as a public key of *algorithm*; no private key belongs to it."""
    content = len(algorithm).to_bytes(4, "big") + algorithm.encode() + bytes(40)
    return f"{algorithm} {base64.b64encode(content).decode()} tests"


def _names(config: dict[str, Any]) -> Iterator[str]:
    name, domain = config["metadata"]["name"], config.get("baseDomain", "")
    if len(name) > _LONGEST_NAME or not _SUBDOMAIN.fullmatch(name):
        yield f"metadata.name: Invalid value: {name}"
    if not _SUBDOMAIN.fullmatch(domain):
        yield f"baseDomain: Invalid value: {domain}"
    if config["publish"] not in ("External", "Internal"):
        yield f"publish: Unsupported value: {config['publish']}"


def _algorithm(key: str) -> str:
    """Return the algorithm of a public key; empty if it is invalid."""
    words = key.split()
    try:
        content = base64.b64decode(words[1], validate=True)
        algorithm = content[4 : 4 + int.from_bytes(content[:4], "big")].decode("ascii")
    except (IndexError, ValueError, binascii.Error):
        return ""
    return algorithm if algorithm == words[0] else ""


def _key(config: dict[str, Any]) -> Iterator[str]:
    if config.get("sshKey") and not _algorithm(config["sshKey"]):
        yield "sshKey: Invalid value: ssh: no key found"


def _fips(config: dict[str, Any], fips_host: bool) -> Iterator[str]:
    if not config.get("fips"):
        return
    algorithm = _algorithm(config.get("sshKey", ""))
    if algorithm and not _FIPS_KEY.fullmatch(algorithm):
        yield f"sshKey: Invalid value: type {algorithm} is unavailable with FIPS, use rsa or ecdsa"
    if not fips_host:
        yield "fips: Forbidden: the target is in FIPS mode, use the FIPS-capable installer on a host with FIPS enabled"


def _networking(config: dict[str, Any]) -> Iterator[str]:
    given = config["networking"]
    plugin = given["networkType"].lower()
    if plugin in ("openshiftsdn", "kuryr"):
        yield f"networking.networkType: Invalid value: {given['networkType']} is not supported"
    named = {
        "machineNetwork": [each["cidr"] for each in given["machineNetwork"]],
        "serviceNetwork": given["serviceNetwork"],
        "clusterNetwork": [each["cidr"] for each in given["clusterNetwork"]],
    }
    found: list[tuple[str, Network]] = []
    for field, ranges in named.items():
        for text in ranges:
            try:
                found.append((f"networking.{field}", Network(text)))
            except ValueError as error:
                yield f"networking.{field}: Invalid value: {error}"
    yield from _ranges(found, _OVN if plugin == "ovnkubernetes" else {})
    for each in given["clusterNetwork"]:
        if each["hostPrefix"] < int(each["cidr"].partition("/")[2]):
            yield f"networking.clusterNetwork.hostPrefix: Invalid value: {each['hostPrefix']} is larger than the CIDR"


def _ranges(found: list[tuple[str, Network]], own: dict[str, str]) -> Iterator[str]:
    for field, each in found:
        if each.network_address.is_unspecified:
            yield f"{field}: Invalid value: address must be specified"
        if field.endswith("serviceNetwork") and each.prefixlen < 12:
            yield f"{field}: Invalid value: {each} is larger than a /12"
        for name, text in own.items():
            if each.overlaps(Network(text)):
                yield f"{field}: Invalid value: {each} must not overlap with the default {name} subnet of the plugin"
    for (field, each), (other, second) in itertools.combinations(found, 2):
        if each.overlaps(second):
            yield f"{other}: Invalid value: {second} must not overlap with {field}"


def _platform(config: dict[str, Any]) -> Iterator[str]:
    aws = config["platform"]["aws"]
    for name in sorted(set(aws) - _AWS_FIELDS):
        yield f'platform.aws: unknown field "{name}"'
    if not aws.get("region"):
        yield "platform.aws.region: Required value"
    subnets = aws.get("subnets") or [each["id"] for each in (aws.get("vpc") or {}).get("subnets", [])]
    if aws.get("hostedZone") and not subnets:
        yield "platform.aws.hostedZone: Invalid value: needs existing subnets"
    for subnet in sorted({each for each in subnets if subnets.count(each) > 1}):
        yield f"platform.aws.vpc.subnets: Duplicate value: {subnet}"
    tags = aws.get("userTags") or {}
    if len(tags) > _MOST_TAGS:
        yield f"platform.aws.userTags: Too many: {len(tags)}"
    for key, value in tags.items():
        reserved = key.lower() == "name" or re.match(r"([^/]*\.)?(kubernetes|openshift)\.io/", key)
        if reserved or len(key) > 128 or len(value) > 256 or not (_TAG.fullmatch(key) and _TAG.fullmatch(value)):
            yield f"platform.aws.userTags[{key}]: Invalid value"


def _pools(config: dict[str, Any]) -> Iterator[str]:
    pools = {"controlPlane": config["controlPlane"], "compute[0]": config["compute"][0]}
    region = config["platform"]["aws"].get("region", "")
    for field, pool in pools.items():
        for name in sorted(set(pool) - _POOL_FIELDS):
            yield f'{field}: unknown field "{name}"'
        architecture = pool["architecture"]
        if architecture not in ("amd64", "arm64") or architecture != config["controlPlane"]["architecture"]:
            yield f"{field}.architecture: Invalid value: {architecture}"
        if pool["replicas"] < (1 if field == "controlPlane" else 0):
            yield f"{field}.replicas: Invalid value: {pool['replicas']}"
        machines = pool["platform"].get("aws") or {}
        for zone in machines.get("zones", []):
            if not zone.startswith(region):
                yield f"{field}.platform.aws.zones: Invalid value: {zone} is not in the configured region ({region})"
        yield from _volume(f"{field}.platform.aws.rootVolume", machines.get("rootVolume") or {})


def _volume(field: str, volume: dict[str, Any]) -> Iterator[str]:
    kind = volume.get("type", "")
    if kind and volume.get("size", 0) <= 0:
        yield f"{field}.size: Invalid value: must be positive"
    if kind in _WITH_IOPS and volume.get("iops", 0) <= 0:
        yield f"{field}.iops: Invalid value: must be positive"
    elif kind and kind not in (*_WITH_IOPS, *_WITHOUT):
        yield f"{field}.type: Invalid value: failed to find volume type {kind}"


def _pull_secret(config: dict[str, Any]) -> Iterator[str]:
    try:
        auths = json.loads(config["pullSecret"])["auths"]
    except (ValueError, KeyError, TypeError):
        auths = {}
    if not auths:
        yield "pullSecret: Invalid value: auths required"
    for registry, entry in auths.items():
        if "auth" not in entry and "credsStore" not in entry:
            yield f"pullSecret: Invalid value: {registry} requires either auth or credsStore"
