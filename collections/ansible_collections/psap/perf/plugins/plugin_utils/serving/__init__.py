"""Served models: their pods and addresses, and the metrics of their servers."""
