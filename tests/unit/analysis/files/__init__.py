"""Tests of the room `files` of the analysis."""
