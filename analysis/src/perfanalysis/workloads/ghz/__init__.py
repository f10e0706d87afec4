"""The kind of recordings of the program ghz, which generates gRPC load."""
