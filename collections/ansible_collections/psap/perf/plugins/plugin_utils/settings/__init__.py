"""Settings inside Ansible: inventories, presets, extra vars, and the check at a run's start."""
