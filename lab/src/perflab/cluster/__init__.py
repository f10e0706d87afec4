"""The lab's API server from the client's side, and its simulated nodes."""
