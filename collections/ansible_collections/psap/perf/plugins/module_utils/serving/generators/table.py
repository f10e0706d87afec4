"""The known load generators."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.psap.perf.plugins.module_utils.serving.generators.aiperf import AIPERF
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import Generator
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.guidellm import GUIDELLM
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.inference_perf import INFERENCE_PERF
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.llm_load_test import LLM_LOAD_TEST

GENERATORS: Mapping[str, Generator] = {
    generator.name: generator for generator in (AIPERF, GUIDELLM, INFERENCE_PERF, LLM_LOAD_TEST)
}
