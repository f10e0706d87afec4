"""Checks of a machine, a project and a cluster."""
