"""Profiles of Go programs, as their pprof endpoints return them."""
