"""The tested system, as guidellm.json or llm_load_test.json states it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perfanalysis.files.documents import Document, finite_number, mapping, text_or_none

SCHEMA = "psap.perf/load-test/1"
KIND = SCHEMA.split("/")[1]
LIMITED = {"ttft_s": "TTFT", "itl_s": "ITL", "tpot_s": "TPOT", "latency_s": "request latency"}
"""What a limit may apply to: a column of the requests, and its name for readers."""
DEFINITIONS = {
    "aiperf": "aiperf: TTFT ends at the first response with content; ITL is the time from it to the last response with "
    "content, per token after the first, a mean over requests.",
    "guidellm": "guidellm: TTFT ends at the first token; ITL and TPOT are means over tokens, so that long answers "
    "weigh more.",
    "inference-perf": "inference-perf: TTFT ends at the first chunk; ITL and TPOT count tokens with its own tokenizer, "
    "and tokens of one chunk have the same time.",
    "llm-load-test": "llm-load-test: TTFT ends at the first token; ITL and TPOT are means over the requests that were "
    "answered in time.",
    "vllm-bench": "vllm-bench: TTFT ends at the first chunk; ITL is a mean over times between chunks, and TPOT a mean "
    "over requests without their first token. A request ends with its last token.",
}
"""How each generator's own summary defines latencies; the report uses one definition for all."""
FACTS = ("model", "flavor", "phase", "generator", "version", "runtime_image")


@dataclass(frozen=True)
class LoadTest:
    """Limits in seconds by column; the price of all GPUs or machines for an hour, None with the reason."""

    facts: Mapping[str, str]
    limits: Mapping[str, float]
    hourly_price: float | None
    no_price: str

    @property
    def limit_words(self) -> str:
        """Return a text such as "TTFT ≤ 0.5 s, TPOT ≤ 0.05 s"."""
        return ", ".join(f"{LIMITED[name]} \u2264 {limit:g} s" for name, limit in self.limits.items())


def load_test_of(document: Document) -> LoadTest:
    """Return the typed view; missing values and those of another type are left out."""
    facts = {name: text for name in FACTS if (text := text_or_none(document.get(name)))}
    if (number := finite_number(document.get("round"))) is not None:
        facts["round"] = f"{number:g}"
    given = mapping(document.get("limits"))
    limits = {name: limit for name in LIMITED if (limit := finite_number(given.get(name))) is not None and limit > 0}
    price, why = _price(document)
    return LoadTest(facts, limits, price, why)


def _price(document: Document) -> tuple[float | None, str]:
    whole = finite_number(document.get("hour_price"))
    if whole is not None and whole > 0:
        return whole, ""
    prices, product = mapping(document.get("gpu_hour_prices")), document.get("gpu_product")
    gpus = finite_number(document.get("gpus"))
    if not prices:
        return None, "no price was given (gpu_hour_prices or hour_price)"
    if gpus is None or gpus <= 0 or not isinstance(product, str):
        return None, "the document does not state gpus and gpu_product"
    price = finite_number(prices.get(product))
    if price is None or price < 0:
        return None, f"the price table has no {product}; known: {', '.join(map(str, prices))}"
    return gpus * price, ""
