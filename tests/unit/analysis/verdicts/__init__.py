"""Tests of the room `verdicts` of the analysis."""
