"""Tests of the export to MLflow, with its server."""
