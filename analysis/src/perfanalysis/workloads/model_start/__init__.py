"""How a model that KServe or llm-d serves starts."""
