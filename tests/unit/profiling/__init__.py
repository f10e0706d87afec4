"""Tests of the profiles of Go programs."""
