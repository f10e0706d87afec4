"""Declared kinds of workloads: a folder with `workload.yml` and a small `parser.py`."""
