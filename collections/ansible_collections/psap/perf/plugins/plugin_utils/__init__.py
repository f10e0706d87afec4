"""Code that needs Ansible's controller: the base of verbs, the layers of settings, the log of a run."""
