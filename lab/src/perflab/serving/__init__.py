"""A stand-in for servers of language models: OpenAI's API with declared latencies, and no model behind it."""
