"""How a Job calls a model of ModelMesh by gRPC: the command lines of ghz and grpcurl, and the files they are given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.ghz import IN_POD
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import deadline_s

INPUTS = "/inputs"
"""Where the Job's template has the files."""
_DATA = "data.json"
# by which ModelMesh knows which of its models is called
_MODEL = "mm-vmodel-id"


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that the program is given: below which path, and by which key of the ConfigMap, which takes no slash."""

    key: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class GrpcCall:
    """The words of the command, its files, and how long the Job that runs it may be there, in seconds."""

    words: tuple[str, ...]
    files: tuple[InputFile, ...]
    deadline_s: int


def grpc_call(
    asked: Mapping[str, Any], program: str, options: Sequence[str], data: Sequence[Any], tags: Mapping[str, Any]
) -> GrpcCall:
    """How *asked*, the arguments of a command, is said to *program*.

    :param options: those beside the ones that say which model is called.
    :param data: of ghz, the requests, which it sends in turn.
    :param tags: of ghz, what its results repeat.
    :raises UsageError: when the proto files cannot be read, or the one that describes the call is not among them.
    """
    files = tuple(_protos(Path(asked["protos_path"])))
    if asked["proto"] not in (one.path for one in files):
        raise UsageError(f"there is no {asked['protos_path']}/{asked['proto']}, which describes the call")
    host = asked["host"] or f"modelmesh-serving.{asked['namespace']}.svc:8033"
    if program == "ghz":
        words = (*_ghz(asked, tags), *options, host)
        files = (*files, InputFile(_DATA, _DATA, json.dumps(data)))
    else:
        words = (*_grpcurl(asked), *options, host, asked["call"])
    return GrpcCall((program, *words), files, deadline_s(asked["start_timeout"], asked["job_timeout"]))


def _ghz(asked: Mapping[str, Any], tags: Mapping[str, Any]) -> Iterator[str]:
    model = asked["model_name"]
    yield from ("--insecure", f"--import-paths={INPUTS}", f"--proto={asked['proto']}", f"--call={asked['call']}")
    yield f"--metadata={json.dumps({_MODEL: model})}"
    yield f"--data-file={INPUTS}/{_DATA}"
    # a request for a playbook may have braces, which are no template of ghz
    yield from ("--disable-template-data", "--format=json", f"--output={IN_POD}")
    yield f"--tags={json.dumps({'model': model, **{name: str(value) for name, value in tags.items()}})}"


def _grpcurl(asked: Mapping[str, Any]) -> Iterator[str]:
    yield from ("-plaintext", f"-import-path={INPUTS}", f"-proto={asked['proto']}")
    yield f"-rpc-header={_MODEL}: {asked['model_name']}"


def _protos(folder: Path) -> Iterator[InputFile]:
    """Those of subfolders too, by which files import each other."""
    for number, path in enumerate(sorted(folder.rglob("*.proto"))):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} cannot be read: {error}") from error
        yield InputFile(f"proto-{number}", str(PurePosixPath(path.relative_to(folder))), text)
