"""What came of runs, kept and given away: payload, history, OpenSearch."""
