"""Reports of runs: their content, layout and pages."""
