"""The run directory: its contents and its failures."""
