"""Damaged inputs: for any content of a file, perfanalysis returns numbers, findings or a named error."""
