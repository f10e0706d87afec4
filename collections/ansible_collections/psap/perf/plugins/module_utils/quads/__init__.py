"""Select, book, await and release bare-metal hosts of a QUADS server."""
