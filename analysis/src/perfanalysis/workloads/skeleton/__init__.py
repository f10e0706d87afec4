"""What the flow skeleton records: pods, and how long each took."""
