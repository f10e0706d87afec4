"""The CI systems, a class each: what their environment says, and where they show links and a summary."""
