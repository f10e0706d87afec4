"""Connections to the API server: addresses, credentials, requests and their repetition."""
