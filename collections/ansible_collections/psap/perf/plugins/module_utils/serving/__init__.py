"""The commands that serve models, without Ansible."""
