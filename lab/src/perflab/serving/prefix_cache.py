"""The prefix cache of a simulated server: which beginnings of prompts it has computed already, as in vLLM."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import takewhile

# vLLM's default
BLOCK_TOKENS = 16


class PrefixCache:
    """The cached blocks of prompts; the least recently used ones are evicted."""

    def __init__(self, tokens: int) -> None:
        """*tokens* is the capacity; 0: nothing is cached."""
        self._capacity = tokens // BLOCK_TOKENS
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def lookup(self, prompt: Sequence[str]) -> int:
        """Return the number of cached tokens at the beginning of a prompt, and cache its complete blocks."""
        blocks = list(_blocks(prompt)) if self._capacity else []
        # as in vLLM, the last token is always computed: its result is the first token of the answer
        reusable = blocks[: max(len(prompt) - 1, 0) // BLOCK_TOKENS]
        hits = len(list(takewhile(self._blocks.__contains__, reusable)))
        # the first block is the most recent one: without it, no other block is a hit
        for block in reversed(blocks):
            self._blocks[block] = None
            self._blocks.move_to_end(block)
        while len(self._blocks) > self._capacity:
            self._blocks.popitem(last=False)
        return hits * BLOCK_TOKENS


def _blocks(prompt: Sequence[str]) -> Iterator[int]:
    """Yield a hash of each complete block and of all blocks before it."""
    before = 0
    for end in range(BLOCK_TOKENS, len(prompt) + 1, BLOCK_TOKENS):
        before = hash((before, *prompt[end - BLOCK_TOKENS : end]))
        yield before
