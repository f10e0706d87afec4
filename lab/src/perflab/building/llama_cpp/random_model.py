"""Writes a model of random weights that llama.cpp loads, with a vocabulary of bytes and letters.

It runs as a program with PyPI's gguf, which the lab does not import: ``random_model.py FILE LAYERS WIDTH HEADS INNER``.
"""

from __future__ import annotations

import string
import sys
from dataclasses import dataclass

import numpy
from gguf import GGUFWriter, TokenType  # type: ignore[import-not-found,unused-ignore]

CONTEXT = 2048
SPECIAL = {"<unk>": TokenType.UNKNOWN, "<s>": TokenType.CONTROL, "</s>": TokenType.CONTROL}
BYTES = {f"<0x{byte:02X}>": TokenType.BYTE for byte in range(256)}
# the first represents a space
TEXTS = dict.fromkeys(["\u2581", *string.ascii_lowercase], TokenType.NORMAL)
VOCABULARY = {**SPECIAL, **BYTES, **TEXTS}


@dataclass(frozen=True)
class Size:
    """The number of layers, and the widths of a layer and of its inner part; the heads divide the width."""

    layers: int
    width: int
    heads: int
    inner: int


def write(path: str, size: Size) -> None:
    """Write the model, always with the same bytes."""
    writer = GGUFWriter(path, "llama")
    _describe(writer, size)
    random = numpy.random.default_rng(1)
    for name, shape in _shapes(size).items():
        weights = numpy.ones(shape) if name.endswith("norm") else random.standard_normal(shape) * 0.05
        writer.add_tensor(f"{name}.weight", weights.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _shapes(size: Size) -> dict[str, tuple[int, ...]]:
    embedding, square, vector = (len(VOCABULARY), size.width), (size.width, size.width), (size.width,)
    wide, narrow = (size.inner, size.width), (size.width, size.inner)
    of_layer = {"attn_norm": vector, "attn_q": square, "attn_k": square, "attn_v": square, "attn_output": square}
    of_layer |= {"ffn_norm": vector, "ffn_gate": wide, "ffn_up": wide, "ffn_down": narrow}
    layers = {f"blk.{layer}.{name}": shape for layer in range(size.layers) for name, shape in of_layer.items()}
    return {"token_embd": embedding, "output": embedding, "output_norm": vector, **layers}


def _describe(writer: GGUFWriter, size: Size) -> None:
    writer.add_name("random")
    writer.add_description("random weights, for tests")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(size.width)
    writer.add_block_count(size.layers)
    writer.add_feed_forward_length(size.inner)
    writer.add_head_count(size.heads)
    writer.add_head_count_kv(size.heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(size.width // size.heads)
    writer.add_vocab_size(len(VOCABULARY))
    writer.add_file_type(0)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(list(VOCABULARY))
    writer.add_token_scores([0.0] * len(VOCABULARY))
    writer.add_token_types(list(VOCABULARY.values()))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)


if __name__ == "__main__":
    write(sys.argv[1], Size(*map(int, sys.argv[2:])))
