"""Runs and KPIs of a history in MLflow, through its own client. docs/history.md describes it."""
