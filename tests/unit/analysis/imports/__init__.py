"""Tests of imports of other formats."""
