"""AWS: a server of moto, and machines of it that answer over SSH."""
