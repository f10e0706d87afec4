"""The folder of runs: names, trees of steps, outcomes."""
