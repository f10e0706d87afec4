"""Emulators of products that queue and schedule workloads."""
