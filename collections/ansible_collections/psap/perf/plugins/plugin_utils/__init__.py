"""What only Ansible's controller can run: the base of verbs, the layers of settings, the log of a run."""
