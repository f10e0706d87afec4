"""Find and query Prometheus, and dump and reset its database."""
