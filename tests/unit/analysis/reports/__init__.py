"""Tests of the room `reports` of the analysis."""
