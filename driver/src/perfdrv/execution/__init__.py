"""Runs from beginning to end: launched, cell by cell, resumed, finalized, interrupted."""
