"""A flow as a job of a CI system: the system, the steps, the files."""
