"""Hosts that Ansible reaches: programs that run and are timed there, and what is left of them."""
