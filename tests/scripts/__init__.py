"""What the targets of the Makefile call."""
