"""The CI systems, one class each: the job in their environment, and the display of links and a summary."""
