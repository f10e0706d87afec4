"""A small load generator, of which the lab writes an image."""
