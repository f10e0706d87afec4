"""A flow as a job of a CI system: who started it, its steps, what it leaves behind."""
