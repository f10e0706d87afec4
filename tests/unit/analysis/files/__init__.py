"""Tests of reading and writing the analysis's files."""
