"""One call of ansible-playbook: as data, as a process of its own, and its end."""
