"""Stand-ins for AWX in tests: its API, its surveys, and the way it starts a job. Nothing here is AWX."""
