"""Emulators that every lab has."""
