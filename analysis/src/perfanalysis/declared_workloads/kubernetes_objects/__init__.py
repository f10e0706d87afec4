"""Jobs and pods by the lists that a cluster gives of them."""
