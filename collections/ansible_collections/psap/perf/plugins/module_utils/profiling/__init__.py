"""Profiles of Go programs by their pprof endpoints."""
