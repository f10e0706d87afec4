"""Run and time programs on the hosts that Ansible reaches, and clean up after them."""
