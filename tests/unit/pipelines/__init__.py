"""Tests of the commands of pipelines."""
