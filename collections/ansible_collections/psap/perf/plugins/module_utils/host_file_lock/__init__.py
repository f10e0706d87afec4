"""Locks in a folder of a host. They run on that host, so they import no more than the errors of ``base``."""
