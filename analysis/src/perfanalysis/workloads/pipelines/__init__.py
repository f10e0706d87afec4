"""Runs of pipelines by many users."""
