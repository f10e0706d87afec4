"""The kind of samples of a host's processors and memory."""
