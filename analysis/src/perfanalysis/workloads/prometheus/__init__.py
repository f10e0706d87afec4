"""Prometheus' data of the window of a test: ranges as tables, and figures of them."""
