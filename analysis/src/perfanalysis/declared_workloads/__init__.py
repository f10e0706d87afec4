"""Shipped kinds of workloads that are declared: a folder each, found by its workload.yml."""
