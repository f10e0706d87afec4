"""Alpaca's records (instruction, input, output) as one text, for the sft trainer."""

from __future__ import annotations


def convert(record: dict) -> dict:
    """``output`` holds the question and, after ``### Label:``, the answer."""
    question = "\n".join(filter(None, (record["instruction"], record.get("input", ""))))
    return {"output": f"### Text: {question}\n\n### Label: {record['output']}"}
