"""Results of runs, stored and shared: payload, history, OpenSearch."""
