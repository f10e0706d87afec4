"""Emulators of products that are installed by an operator."""
