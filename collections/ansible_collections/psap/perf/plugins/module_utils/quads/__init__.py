"""QUADS: bare-metal hosts chosen, booked by self-scheduling, awaited, and released."""
