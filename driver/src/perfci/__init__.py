"""CI jobs, notifications and exports of runs: commands that join `perfdrv` by entry points."""
