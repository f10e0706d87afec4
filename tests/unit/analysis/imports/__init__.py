"""Tests of the room `imports` of the analysis."""
