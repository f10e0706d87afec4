"""Tests of drawing figures."""
