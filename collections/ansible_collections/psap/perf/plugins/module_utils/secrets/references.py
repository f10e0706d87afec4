"""References to secrets in the settings, their values in memory only, and which of them a run used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.secrets.formats import exposed
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import SHORTEST

KINDS = ("file", "env", "vault")
DIRECTORY = "PERF_SECRETS_DIR"
FILE = "secrets.txt"


@dataclass(frozen=True, slots=True)
class Reference:
    """The place of a secret: ``file:NAME``, ``env:NAME`` or ``vault:NAME``."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def parse_reference(text: object) -> Reference:
    """Return *text* as a reference.

    Raises:
        UsageError: If it is not a reference; the message does not contain *text*, which may be the secret itself.
    """
    kind, colon, name = text.partition(":") if isinstance(text, str) else ("", "", "")
    if kind not in KINDS or not colon or not name.strip():
        raise UsageError("must name a secret, not be one: file:NAME (below $PERF_SECRETS_DIR), env:NAME or vault:NAME")
    if kind == "file" and (Path(name).is_absolute() or ".." in Path(name).parts):
        raise UsageError(f"file:{name} must be a path below $PERF_SECRETS_DIR")
    return Reference(kind=kind, name=name.strip())


def resolve(reference: Reference, vault: Callable[[str], str | None] | None = None) -> str:
    """Return the secret's value, without the line end of a file.

    Args:
        vault: Returns the decrypted value of a vaulted variable, or None if it does not exist.

    Raises:
        UsageError: If it is missing, too short or exposed; the message contains the place.
    """
    value = _READERS[reference.kind](reference.name) if reference.kind != "vault" else _vaulted(reference.name, vault)
    if len(value) < SHORTEST:
        raise UsageError(
            f"the secret {reference} is empty or shorter than {SHORTEST} characters, so it could not be hidden"
        )
    return value


def _from_file(name: str) -> str:
    folder = os.environ.get(DIRECTORY)
    if not folder:
        raise UsageError(f"cannot find the secret file:{name}: set {DIRECTORY} to the folder of the secrets' files")
    path = Path(folder).expanduser() / name
    try:
        text, others = path.read_text(encoding="utf-8").rstrip("\r\n"), exposed(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the secret file:{name} cannot be read from {folder}; put the file there") from error
    if others:
        raise UsageError(f"the secret file:{name} in {folder} {others}")
    return text


def _from_environment(name: str) -> str:
    if name not in os.environ:
        raise UsageError(f"the secret env:{name} is missing: set {name} in the environment")
    return os.environ[name]


def _vaulted(name: str, vault: Callable[[str], str | None] | None) -> str:
    try:
        value = None if vault is None else vault(name)
    except KeyError:
        value = None
    if value is None:
        raise UsageError(f"the secret vault:{name} is missing: define {name}, encrypted, in a vars file of the site")
    return str(value)


_READERS: Mapping[str, Callable[[str], str]] = {"file": _from_file, "env": _from_environment}


def remember(run: Path, reference: str) -> None:
    """Record that the run used *reference*."""
    with (run / FILE).open("a", encoding="utf-8") as stream:
        stream.write(f"{reference}\n")


def remembered_values(run: Path, vault: Callable[[str], str | None]) -> Iterator[str]:
    """Yield the values of all secrets that *run* used, except those that are no longer available."""
    path = run / FILE
    if not path.exists():
        return
    for reference in sorted(set(path.read_text(encoding="utf-8").split())):
        try:
            yield resolve(parse_reference(reference), vault=vault)
        except UsageError:
            # deleted since: a value that cannot be read cannot be searched for, and the run refused to start without it
            continue
