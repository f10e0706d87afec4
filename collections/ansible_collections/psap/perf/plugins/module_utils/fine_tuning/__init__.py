"""Computations of the fine-tuning commands, without Ansible and without a cluster."""
