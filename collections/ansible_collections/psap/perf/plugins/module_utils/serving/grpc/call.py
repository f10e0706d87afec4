"""The gRPC calls of a Job to a model of ModelMesh: the command lines of ghz and grpcurl, and their input files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.grpc.ghz import IN_POD
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import deadline_s

INPUTS = "/inputs"
"""The folder of the files in the Job's template."""
_DATA = "data.json"
# the header with the name of the model to call
_MODEL = "mm-vmodel-id"


@dataclass(frozen=True, slots=True)
class InputFile:
    """An input file of the program: its path, and its key in the ConfigMap, which must not have slashes."""

    key: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class GrpcCall:
    """The words of the command, its files, and the maximum lifetime of its Job in seconds."""

    words: tuple[str, ...]
    files: tuple[InputFile, ...]
    deadline_s: int


def grpc_call(
    asked: Mapping[str, Any], program: str, options: Sequence[str], data: Sequence[Any], tags: Mapping[str, Any]
) -> GrpcCall:
    """Return the call of *program* for *asked*, the arguments of a command.

    Args:
        options: Options in addition to those that select the model.
        data: Requests that ghz sends in turn.
        tags: Tags that ghz writes to its results.

    Raises:
        UsageError: If the proto files cannot be read, or the one that describes the call is missing.
    """
    files = tuple(_protos(Path(asked["protos_path"])))
    if asked["proto"] not in (one.path for one in files):
        raise UsageError(f"{asked['protos_path']}/{asked['proto']}, which describes the call, does not exist")
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
    # braces in a request are not a template of ghz
    yield from ("--disable-template-data", "--format=json", f"--output={IN_POD}")
    yield f"--tags={json.dumps({'model': model, **{name: str(value) for name, value in tags.items()}})}"


def _grpcurl(asked: Mapping[str, Any]) -> Iterator[str]:
    yield from ("-plaintext", f"-import-path={INPUTS}", f"-proto={asked['proto']}")
    yield f"-rpc-header={_MODEL}: {asked['model_name']}"


def _protos(folder: Path) -> Iterator[InputFile]:
    """Yield the proto files, including those in subfolders that others import."""
    for number, path in enumerate(sorted(folder.rglob("*.proto"))):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} cannot be read: {error}") from error
        yield InputFile(f"proto-{number}", str(PurePosixPath(path.relative_to(folder))), text)
