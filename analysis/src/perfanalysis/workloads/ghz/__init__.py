"""The kind of recordings of the program ghz, which loads a server by gRPC."""
