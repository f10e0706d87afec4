"""Stand-ins for the servers, hosts and programs that the tests cannot have: packages by server."""
