"""Tests of the room `results` of the analysis."""
