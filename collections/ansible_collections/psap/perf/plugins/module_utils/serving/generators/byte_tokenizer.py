"""A tokenizer whose tokens are bytes, in the format of Hugging Face: load generators need one without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping

_END = "<eos>"
# bytes that are characters themselves in a vocabulary of bytes; the others follow from 256
_PRINTABLE = (*range(33, 127), *range(161, 173), *range(174, 256))


def tokenizer_files() -> Mapping[str, str]:
    """Return the texts of its files by name."""
    letters = [*map(chr, _PRINTABLE), *map(chr, range(256, 512 - len(_PRINTABLE)))]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [{"id": len(letters), "content": _END, **special}],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {"type": "BPE", "vocab": {text: place for place, text in enumerate([*letters, _END])}, "merges": []},
    }
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": _END}
    return {"tokenizer.json": json.dumps(tokenizer), "tokenizer_config.json": json.dumps(config)}
