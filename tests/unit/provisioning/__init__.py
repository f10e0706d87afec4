"""Tests of the room `clusters`."""
