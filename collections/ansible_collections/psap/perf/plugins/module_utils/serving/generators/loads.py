"""A load by any generator: its invocation on this machine or in a Job, and the document beside its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.byte_tokenizer import tokenizer_files
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import (
    Folders,
    Invocation,
    Load,
    refuse_unsupported,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.inputs import in_job
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.table import generator_of
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import deadline_s

_IN_POD = Folders("/inputs", "/results", "/data")


@dataclass(frozen=True, slots=True)
class LoadJob:
    """The Job of a load: its command, files, environment, the artifacts of its results, its limits, and its claim."""

    words: tuple[str, ...]
    files: Mapping[str, str]
    environment: Mapping[str, str]
    results: Mapping[str, str]
    load: str
    timeout_s: float
    deadline_s: int
    claim: str


def invocation(load: Load, folders: Folders) -> Invocation:
    """Return the invocation of the load's generator.

    Raises:
        UsageError: If the generator cannot create the load.
    """
    generator = generator_of(load.generator)
    refuse_unsupported(load, generator)
    invoked = generator.invoke(load, folders)
    files = invoked.files if load.tokenizer else {**tokenizer_files(), **invoked.files}
    return replace(invoked, arguments=(*invoked.arguments, *load.extra_args), files=files)


def load_job(load: Load, data_claim: str, start_timeout: str) -> LoadJob:
    """Return the Job of a load.

    Args:
        data_claim: The claim with the data set or trace; empty for none, or for the claim of a pvc:// location.
        start_timeout: The limit until the pod has a node.

    Raises:
        UsageError: If the generator cannot create the load, or the Job has no such file.
    """
    load, claim = in_job(load, data_claim)
    if (load.data_file or load.trace_file) and not claim:
        raise UsageError("a Job reads data_file and trace_file from a claim; write pvc://CLAIM/PATH or set data_claim")
    generator = generator_of(load.generator)
    invoked = invocation(load, _IN_POD)
    return LoadJob(
        (load.program or generator.program, *invoked.arguments),
        invoked.files,
        invoked.environment,
        {f"{_IN_POD.results}/{name}": kept for name, kept in generator.results.items()},
        load.words,
        load.timeout_s,
        deadline_s(start_timeout, load.timeout_s),
        claim,
    )


def load_facts(load: Load) -> dict[str, Any]:
    """Return what the document beside the results states about the load and its generator."""
    stated = {
        "concurrency": load.concurrency,
        "rate": load.rate,
        "requests": load.requests,
        "requested_model": load.model,
    }
    return {"generator": load.generator, "load": {name: value for name, value in stated.items() if value}}
