"""The kind of recordings of a model server's metrics before and after a load."""
