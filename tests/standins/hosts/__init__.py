"""Hosts: a machine with a real sshd and podman, and the inference servers on it."""
