"""The kind of samples of a host's power, and the energy of concurrent tests."""
