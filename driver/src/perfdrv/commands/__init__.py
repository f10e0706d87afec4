"""The commands of `perfdrv`; what is heavy is imported when a command runs."""
