"""Requests to the API server of one cluster, and the verbs' operations on its objects."""
