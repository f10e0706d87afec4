"""Load tests of served models: what guidellm and llm-load-test recorded."""
