"""The program llm-load-test: its configuration, and the requests in its results."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import deadline_s
from ansible_collections.psap.perf.plugins.module_utils.serving.load_test import ServedArguments, users_in_words
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import Counts, reading_results

OUTPUT = "output.json"
OPENAI = "openai_plugin"
# in addition to the load's duration: for the program's start, and for requests in flight at the end
_BESIDE_S = 1500.0
_SIZES = ("min_input_tokens", "max_input_tokens", "min_output_tokens", "max_output_tokens", "max_sequence_tokens")


@dataclass(frozen=True, slots=True)
class LlmLoadTest(ServedArguments):
    """The arguments of the command llm_load_test_run."""

    host: str
    port: int
    duration: int
    plugin: str
    interface: str
    model_id: str
    src_path: str
    streaming: bool
    use_tls: bool
    concurrency: int
    dataset: str
    max_queries: int
    min_input_tokens: int
    max_input_tokens: int
    min_output_tokens: int
    max_output_tokens: int
    max_sequence_tokens: int
    endpoint: str
    python_cmd: str
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
        """Return the load for readers, such as "4 users"."""
        return users_in_words(self.concurrency)


def configuration(load: LlmLoadTest, folder: Path) -> dict[str, Any]:
    """Return the program's configuration.

    Args:
        load: The arguments of the command.
        folder: The folder for the results.

    Raises:
        UsageError: If a number is out of its range.
    """
    for name in ("concurrency", "duration", "max_queries"):
        if getattr(load, name) < 1:
            raise UsageError(f"{name} must be at least 1, not {getattr(load, name)}")
    return {
        "output": {"format": "json", "dir": str(folder), "file": OUTPUT},
        "storage": {"type": "local"},
        "warmup": False,
        "dataset": {
            "file": load.dataset,
            "max_queries": load.max_queries,
            **{name: getattr(load, name) for name in _SIZES},
        },
        "load_options": {"type": "constant", "concurrency": load.concurrency, "duration": load.duration},
        "plugin": load.plugin,
        "plugin_options": _plugin_options(load),
    }


@dataclass(frozen=True, slots=True)
class JobInvocation:
    """The configuration of the program in a Job, the timeout of the load, and the lifetime of the Job."""

    configuration: str
    timeout_s: float
    deadline_s: int


def job_invocation(load: LlmLoadTest, folder: str, start_timeout: str) -> JobInvocation:
    """Return the invocation of the program in a Job.

    Args:
        folder: The folder in the pod for the results.
        start_timeout: The limit until the pod has a node.

    Raises:
        UsageError: If a number is out of its range.
    """
    text = json.dumps(configuration(load, Path(folder)), indent=2)
    return JobInvocation(text, load.timeout_s, deadline_s(start_timeout, load.timeout_s))


def _plugin_options(load: LlmLoadTest) -> dict[str, Any]:
    options = {"use_tls": load.use_tls, "streaming": load.streaming, "model_name": load.model_id}
    if load.plugin == OPENAI:
        # its host is a URL
        scheme = "https" if load.use_tls else "http"
        return {**options, "host": f"{scheme}://{load.host}:{load.port}", "endpoint": load.endpoint}
    return {**options, "interface": load.interface, "host": load.host, "port": load.port}


def count_requests(path: Path) -> Counts:
    """Return the number of requests in the results, how many of them failed, and the reason of the first.

    Raises:
        DataQualityError: If there are no results.
    """
    with reading_results("llm-load-test", path.name):
        results = json.loads(path.read_bytes())["results"]
        failed = [one for one in results if one.get("error_code") is not None or one.get("error_text")]
    first = failed[0] if failed else {}
    why = f"{first.get('error_code')} {first.get('error_text') or ''}".strip()
    return Counts(len(results), len(failed), why)
