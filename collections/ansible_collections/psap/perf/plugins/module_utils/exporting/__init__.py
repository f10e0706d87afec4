"""A run directory in an S3 store: sent, found whole or half, fetched and verified."""
