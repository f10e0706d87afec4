"""Alpaca's records (instruction, input, output) as a conversation, for InstructLab."""

from __future__ import annotations


def convert(record: dict) -> dict:
    """``messages`` holds the user's question and the assistant's answer."""
    question = "\n".join(filter(None, (record["instruction"], record.get("input", ""))))
    answer = record["output"]
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}
