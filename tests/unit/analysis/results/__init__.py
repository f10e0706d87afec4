"""Tests of results and histories."""
