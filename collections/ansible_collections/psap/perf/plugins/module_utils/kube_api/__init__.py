"""One cluster: how to reach it, and what verbs do in it."""
