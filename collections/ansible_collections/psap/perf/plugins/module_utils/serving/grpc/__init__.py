"""Calls of served models over gRPC: by ghz in a Job, and one request from here."""
