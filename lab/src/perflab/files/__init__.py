"""Where the lab keeps its files, and how they are written."""
