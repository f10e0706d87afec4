"""AWS: a server of moto, and machines that are reached by SSH."""
