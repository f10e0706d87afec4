"""A run from its request to its end: launch, matrix, resume, finalize, Ctrl-C."""
