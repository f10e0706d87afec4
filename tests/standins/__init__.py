"""Stand-ins for servers, hosts and programs that the tests cannot use: packages by server."""
