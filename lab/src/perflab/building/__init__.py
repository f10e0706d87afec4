"""Build the lab's programs from pinned Go modules into the user's cache."""
