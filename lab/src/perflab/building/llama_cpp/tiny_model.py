"""Writes a model of random weights that llama.cpp loads: two layers, a vocabulary of bytes and letters.

It runs as a program with PyPI's gguf, which the lab does not import: ``tiny_model.py FILE``.
"""

from __future__ import annotations

import string
import sys

import numpy
from gguf import GGUFWriter, TokenType  # type: ignore[import-not-found,unused-ignore]

LAYERS, WIDTH, HEADS, INNER, CONTEXT = 2, 64, 4, 128, 2048
SPECIAL = {"<unk>": TokenType.UNKNOWN, "<s>": TokenType.CONTROL, "</s>": TokenType.CONTROL}
BYTES = {f"<0x{byte:02X}>": TokenType.BYTE for byte in range(256)}
# the first represents a space
TEXTS = dict.fromkeys(["\u2581", *string.ascii_lowercase], TokenType.NORMAL)
VOCABULARY = {**SPECIAL, **BYTES, **TEXTS}


def write(path: str) -> None:
    """Write the model, always with the same bytes."""
    writer = GGUFWriter(path, "llama")
    _describe(writer)
    random = numpy.random.default_rng(1)
    for name, shape in _shapes().items():
        weights = numpy.ones(shape) if name.endswith("norm") else random.standard_normal(shape) * 0.05
        writer.add_tensor(f"{name}.weight", weights.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _shapes() -> dict[str, tuple[int, ...]]:
    embedding, square, vector = (len(VOCABULARY), WIDTH), (WIDTH, WIDTH), (WIDTH,)
    of_layer = {"attn_norm": vector, "attn_q": square, "attn_k": square, "attn_v": square, "attn_output": square}
    of_layer |= {"ffn_norm": vector, "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}
    layers = {f"blk.{layer}.{name}": shape for layer in range(LAYERS) for name, shape in of_layer.items()}
    return {"token_embd": embedding, "output": embedding, "output_norm": vector, **layers}


def _describe(writer: GGUFWriter) -> None:
    writer.add_name("tiny")
    writer.add_description("random weights, for tests")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
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
    write(sys.argv[1])
