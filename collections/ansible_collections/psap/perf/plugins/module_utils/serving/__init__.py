"""What commands that serve models do, without Ansible."""
