"""Load tests of served models: recordings of guidellm and llm-load-test."""
