"""Tests of the room `drawing` of the analysis."""
