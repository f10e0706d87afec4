"""Tests of the client of QUADS."""
