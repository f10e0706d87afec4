"""The start of a model that KServe or llm-d serves."""
