"""Kinds of workloads, and what they share: KPIs, percentiles, selection."""
