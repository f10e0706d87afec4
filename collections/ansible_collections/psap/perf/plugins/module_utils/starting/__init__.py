"""Start participants together: processes or pods report that they are ready, and the coordinator sets one instant."""
