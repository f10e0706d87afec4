"""The prefix cache of simulated servers, alone and in an answer."""

from __future__ import annotations

import asyncio
import random

import pytest
from perflab.serving.models import Latency, ServedModel, model_of
from perflab.serving.prefix_cache import BLOCK_TOKENS, PrefixCache
from perflab.serving.servers import Servers


def words(count: int, name: str = "a") -> list[str]:
    return [f"{name}{place}" for place in range(count)]


def test_complete_blocks_of_a_common_prefix_are_cached() -> None:
    cache = PrefixCache(1000)
    assert cache.lookup(words(40)) == 0
    assert cache.lookup([*words(40), "more"]) == 2 * BLOCK_TOKENS
    # blocks depend on all tokens before them
    assert cache.lookup(["other", *words(40)]) == 0
    # the last token is always computed
    assert cache.lookup(words(32)) == BLOCK_TOKENS


def test_least_recently_used_prefix_is_evicted() -> None:
    cache = PrefixCache(4 * BLOCK_TOKENS)
    first, second, third = (words(2 * BLOCK_TOKENS, name) for name in "abc")
    for prompt in (first, second, first, third):
        cache.lookup([*prompt, "end"])
    assert [cache.lookup([*prompt, "end"]) for prompt in (first, third)] == [32, 32]
    assert cache.lookup([*second, "end"]) == 0


def test_server_without_a_cache_has_no_hits() -> None:
    cache = PrefixCache(0)
    assert [cache.lookup(words(100)) for _ in range(2)] == [0, 0]


def test_cached_tokens_need_no_prefill() -> None:
    model = ServedModel("m", Latency(0.1), Latency(0.0), prefill=Latency(2.0))
    assert list(model.times(1, random.Random(0), 500)) == pytest.approx([1.1])
    assert list(model.times(1, random.Random(0), 0)) == pytest.approx([0.1])


def test_pods_have_separate_caches_and_metrics_count_both() -> None:
    declared = model_of("here", "m", {"ttft": 0, "itl": 0, "cached_tokens": 1000})
    servers = Servers()
    for name in ("a", "b"):
        servers.set(f"n/{name}", "n/m", declared, f"127.0.0.{ord(name)}")

    async def ask() -> list[int]:
        first, second = servers.of("n/m")
        return [await one.generate(words(33), 1) for one in (first, second, first)]

    assert asyncio.run(ask()) == [0, 0, 32]
    hits, total = 'vllm:prefix_cache_hits_total{model_name="m"} 32.0', "vllm:prefix_cache_queries_total"
    own = servers.of(f"127.0.0.{ord('a')}")[0].registry.text.decode()
    assert hits in own
    assert f'{total}{{model_name="m"}} 66.0' in own
    everything = servers.registry.text.decode()
    assert hits in everything
    assert f'{total}{{model_name="m"}} 99.0' in everything


def test_negative_capacity_is_refused() -> None:
    with pytest.raises(ValueError, match="cached_tokens: must be a whole number from 0"):
        model_of("here", "m", {"cached_tokens": -1})
