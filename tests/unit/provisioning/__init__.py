"""Tests of creating and deleting clusters."""
