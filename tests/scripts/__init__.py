"""Programs that the targets of the Makefile call."""
