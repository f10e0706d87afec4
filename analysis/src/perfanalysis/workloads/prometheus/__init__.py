"""What Prometheus knew of the window of a test: ranges as tables, and figures of them."""
