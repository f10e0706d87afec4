"""The known load generators: those of this collection, and those of installed Python packages."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.aiperf import AIPERF
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import Generator
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.guidellm import GUIDELLM
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.inference_perf import INFERENCE_PERF
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.llm_load_test import LLM_LOAD_TEST
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.vllm_bench import VLLM_BENCH

SHIPPED = (AIPERF, GUIDELLM, INFERENCE_PERF, LLM_LOAD_TEST, VLLM_BENCH)
GROUP = "psap_perf.load_generators"


@functools.cache
def generators() -> Mapping[str, Generator]:
    """Return the known load generators by their names.

    Raises:
        PerfError: If an entry point is broken, or names a generator that exists.
    """
    known = {generator.name: generator for generator in SHIPPED}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        added = _load(point)
        if added.name in known:
            raise PerfError(f"{_shown(point)} adds the load generator {added.name}, which exists; remove that package")
        known[added.name] = added
    return MappingProxyType(known)


def generator_of(name: str) -> Generator:
    """Return the load generator *name*.

    Raises:
        UsageError: If it does not exist.
        PerfError: As `generators`.
    """
    known = generators()
    if name not in known:
        raise UsageError(
            f"unknown load generator {name}{did_you_mean(name, known)}; perfdrv generators list lists them"
        )
    return known[name]


def _load(point: EntryPoint) -> Generator:
    try:
        loaded = point.load()
    except Exception as error:
        # code of any package, so any error
        raise PerfError(f"cannot load the {_shown(point)}: {type(error).__name__}: {error}") from error
    if not isinstance(loaded, Generator):
        raise PerfError(f"cannot use the {_shown(point)}: it is not a Generator")
    return loaded


def _shown(point: EntryPoint) -> str:
    return f"entry point {point.name} = {point.value} of {point.dist.name if point.dist else 'a package'}"
