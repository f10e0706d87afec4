"""The folder of runs: which there are, what each has done so far, how it ended."""
