"""What other tools recorded, as run directories or as entries of a history. docs/foreign-data.md describes it."""
