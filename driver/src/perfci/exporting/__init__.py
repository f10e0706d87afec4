"""Runs in an S3 store: exported after their end, and made plots of again from there."""
