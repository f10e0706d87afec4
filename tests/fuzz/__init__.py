"""Damaged inputs: whatever stands in a file, perfanalysis answers with numbers, findings or a named error."""
