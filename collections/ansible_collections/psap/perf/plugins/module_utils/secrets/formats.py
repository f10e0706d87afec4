"""Check a secret's format and who can read its file, without printing its value."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import load_yaml

ANYTHING = "text"
FORMATS: Mapping[str, str] = {
    ANYTHING: "anything",
    "token": "one line without spaces",
    "key_value": "lines NAME=VALUE",
    "yaml": "a mapping in YAML",
    "json": "a mapping in JSON",
    "aws": "a credentials file of the AWS CLI, with aws_access_key_id and aws_secret_access_key",
}
_KEYS_OF_AWS = re.compile(r"^[ \t]*(aws_access_key_id|aws_secret_access_key)[ \t]*=[ \t]*\S", re.MULTILINE)
_KEY_VALUE = re.compile(r"\s*(?:export\s+)?[A-Za-z_][\w.-]*\s*=.*")
# only the container in which a Kubernetes volume is mounted reads it, regardless of the files' modes
_KUBERNETES_VOLUME = "..data"


def malformed(text: str, kind: str) -> str:
    """Return why *text* is not of the format *kind*, as the end of a sentence; empty if it is."""
    return "" if _CHECKS[kind](text) else f"does not have the declared format: {FORMATS[kind]}"


def _is_token(text: str) -> bool:
    return not re.search(r"\s", text) and text.isprintable()


def _is_key_value(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and all(_KEY_VALUE.fullmatch(line) for line in lines)


def _is_yaml(text: str) -> bool:
    try:
        return isinstance(load_yaml(text), dict)
    except (yaml.YAMLError, RecursionError):
        return False


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _is_aws(text: str) -> bool:
    return len(set(_KEYS_OF_AWS.findall(text))) == 2


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    ANYTHING: lambda _text: True,
    "token": _is_token,
    "key_value": _is_key_value,
    "yaml": _is_yaml,
    "json": _is_json,
    "aws": _is_aws,
}


def exposed(path: Path) -> str:
    """Return which other users can read or change a secret's file, as the end of a sentence; empty for none.

    A world-readable file is not exposed if a folder above it is closed to other users.
    """
    found = path.stat()
    if found.st_uid not in (0, os.geteuid()):
        return f"belongs to the user {found.st_uid}, not to you: chown it"
    if any((folder / _KUBERNETES_VOLUME).is_symlink() for folder in path.parents):
        return ""
    if found.st_mode & stat.S_IWOTH or path.parent.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
        return "is writable by all users: run chmod o-w on it and its folder"
    if found.st_mode & stat.S_IROTH and all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents):
        return "is readable by all users of this machine: run chmod o-r on it"
    return ""
