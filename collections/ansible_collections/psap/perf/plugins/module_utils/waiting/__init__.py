"""Wait for the states of objects; the predicates for these states, by kind."""
