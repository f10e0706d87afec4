"""Results of other tools, as run directories or as entries of a history. docs/foreign-data.md describes it."""
