"""Load generators as data: how each is installed and called, what it writes, and what it cannot do."""
