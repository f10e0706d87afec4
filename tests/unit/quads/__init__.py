"""Tests of the room `quads`."""
