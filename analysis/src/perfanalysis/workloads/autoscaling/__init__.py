"""How the replicas of a served model follow its load."""
