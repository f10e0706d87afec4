"""Code that commands share: options, groups, completion, tables."""
