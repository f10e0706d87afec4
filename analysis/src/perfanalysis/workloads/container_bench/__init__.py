"""The kind of recordings of the commands that time container engines."""
