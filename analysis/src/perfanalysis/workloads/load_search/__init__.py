"""The recordings of a search for the highest load within limits."""
