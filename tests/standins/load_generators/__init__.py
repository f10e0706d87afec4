"""Load generators: programs that answer as guidellm and llm-load-test do, by one small client."""
