"""Load generators: programs with the interfaces of guidellm and llm-load-test, by one small client."""
