"""Tests of the kind scale test."""
