"""Locks in a folder of a host. This code runs on that host, so it imports only the errors of ``base``."""
