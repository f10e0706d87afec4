"""The recordings of the flow skeleton: pods, and how long each took."""
