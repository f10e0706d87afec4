"""Simulated servers of language models: OpenAI's API with declared latencies, without a model."""
