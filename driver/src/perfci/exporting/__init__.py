"""Exports of runs to an S3 store, and plots of exported runs."""
