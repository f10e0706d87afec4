"""Settings: their declarations, the layers of values, and checks."""
