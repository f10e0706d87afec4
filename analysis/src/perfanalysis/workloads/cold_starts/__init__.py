"""Repeated cold starts of a served model."""
