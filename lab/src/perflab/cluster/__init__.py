"""The lab's API server as a client sees it, and its simulated nodes."""
