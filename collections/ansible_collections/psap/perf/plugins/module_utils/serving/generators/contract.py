"""The contract of load generators: common arguments in, a command line and files out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.load_test import ServedArguments, users_in_words
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import Counts

API_KEY = "$(API_KEY)"
"""Kubernetes' reference to the key in an environment variable's value."""
COMPLETIONS, CHAT = "completions", "chat"
MOONCAKE, OTEL, WEKA = "mooncake", "otel", "weka"
"""The formats of traces."""
PATHS = {COMPLETIONS: "/v1/completions", CHAT: "/v1/chat/completions"}
# in addition to the load's duration: for the program's start, and for requests in flight at the end
_BESIDE_S = 1500.0


@dataclass(frozen=True, slots=True)
class Load(ServedArguments):
    """The arguments of the command serving_run_load that describe the load."""

    generator: str
    endpoint_url: str
    model: str
    api: str
    concurrency: int
    rate: float
    duration: int
    requests: int
    input_tokens: int
    input_tokens_stdev: int
    input_tokens_min: int
    input_tokens_max: int
    output_tokens: int
    output_tokens_stdev: int
    output_tokens_min: int
    output_tokens_max: int
    data_file: str
    trace_file: str
    trace_format: str
    turns: int
    prefix_tokens: int
    prefixes: int
    seed: int
    streaming: bool
    ignore_eos: bool
    tokenizer: str
    api_key: str
    program: str
    extra_args: tuple[str, ...]
    timeout: str
    phase: str
    round: int
    version: str

    @property
    def timeout_s(self) -> float:
        """Return the timeout of the program, by default the duration and some additional time."""
        return seconds(self.timeout) if self.timeout else self.duration + _BESIDE_S

    @property
    def words(self) -> str:
        """Return the load for readers, such as "4 users" or "2.5 requests/s"."""
        if self.rate:
            return f"{self.rate:g} requests/s"
        return users_in_words(self.concurrency)


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders that the program reads and writes: of this machine, or of a pod.

    `data` is the folder of data sets and traces; empty if their paths are those of this machine.
    """

    inputs: str
    results: str
    data: str = ""

    def tokenizer(self, load: Load) -> str:
        """Return the name or folder of the tokenizer: by default the tokenizer of bytes, which needs no network."""
        return load.tokenizer or self.inputs

    def input(self, path: str) -> str:
        """Return the path of a data set or trace for the program."""
        return f"{self.data}/{path}" if self.data else str(Path(path).expanduser().absolute())


@dataclass(frozen=True, slots=True)
class Invocation:
    """The program's arguments, its configuration files by name, and its environment.

    Values of the environment contain `API_KEY` where the key belongs.
    """

    arguments: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Installation:
    """The installation of a generator: pinned requirements, versions of Python, and the cost of the first time."""

    requirements: tuple[str, ...]
    version: str
    pythons: tuple[str, ...]
    gigabytes: float
    minutes: float


@dataclass(frozen=True, slots=True)
class Generator:
    """One load generator.

    Attributes:
        name: Its name in settings and reports.
        program: Its program in the folder `bin` of its environment.
        installation: How it is installed; None if the user has to name its program.
        results: Its result files, by the path below its folder of results, with their names in the artifacts.
        cannot: A sentence for each argument that it does not support.
        single_process: Whether one core limits it.
        invoke: Returns the invocation for a load.
        count: Counts the requests in its results.
        refuse: Raises UsageError for arguments that the generator supports, but not together.
    """

    name: str
    program: str
    installation: Installation | None
    results: Mapping[str, str]
    cannot: Mapping[str, str]
    single_process: bool
    invoke: Callable[[Load, Folders], Invocation]
    count: Callable[[Path], Counts]
    refuse: Callable[[Mapping[str, Any]], None] = lambda _given: None

    @property
    def marker(self) -> str:
        """Return the name of the document beside the results."""
        return f"{self.name.replace('-', '_')}.json"

    @property
    def results_folder(self) -> str:
        """Return the folder of the results in the artifacts."""
        return next(iter(self.results.values())).rpartition("/")[0]


_UNSET: Mapping[str, Any] = {
    "rate": 0.0,
    "requests": 0,
    "duration": 0,
    "input_tokens_stdev": 0,
    "input_tokens_min": 0,
    "input_tokens_max": 0,
    "output_tokens_stdev": 0,
    "output_tokens_min": 0,
    "output_tokens_max": 0,
    "data_file": "",
    "trace_file": "",
    "trace_format": MOONCAKE,
    "turns": 1,
    "prefix_tokens": 0,
    "streaming": True,
    "ignore_eos": True,
    "api_key": "",
    "api": COMPLETIONS,
}
"""Values of arguments that every generator supports."""


def refuse_unsupported(load: Load, generator: Generator) -> None:
    """Refuse a load that has no end, contradicts itself, or that the generator cannot create.

    Raises:
        UsageError: With one sentence about the first such argument.
    """
    for name in ("concurrency", "duration", "requests", "prefix_tokens", "round", "rate"):
        if getattr(load, name) < 0:
            raise UsageError(f"{name} cannot be negative, but is {getattr(load, name):g}")
    for name in ("input_tokens", "output_tokens", "turns", "prefixes"):
        if getattr(load, name) < 1:
            raise UsageError(f"{name} must be at least 1, not {getattr(load, name)}")
    if load.trace_file and load.data_file:
        raise UsageError("data_file and trace_file are both set; remove one of them")
    if not load.trace_file and bool(load.rate) == bool(load.concurrency):
        raise UsageError("either concurrency or rate must be above 0, and the other one 0")
    if not (load.duration or load.requests or load.trace_file):
        raise UsageError("duration or requests must be above 0; otherwise the load does not end")
    refuse_unsupported_arguments(asdict(load), generator)


def refuse_unsupported_arguments(given: Mapping[str, Any], generator: Generator) -> None:
    """Refuse the first of some arguments of a load that the generator does not support.

    Args:
        given: The arguments that differ from their defaults.

    Raises:
        UsageError: With one sentence about it.
    """
    for name, sentence in generator.cannot.items():
        if given.get(name, _UNSET[name]) != _UNSET[name]:
            raise UsageError(f"{generator.name} cannot use {name}: {sentence}")
    generator.refuse(given)
