"""What the commands share: options, the project that is meant, completion, tables."""
