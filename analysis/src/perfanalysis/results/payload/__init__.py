"""What is known of one run as one typed document: metadata, results and KPIs. docs/history.md describes it."""
