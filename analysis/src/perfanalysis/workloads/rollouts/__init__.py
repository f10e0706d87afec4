"""How a new version of a served model replaces the former under load."""
