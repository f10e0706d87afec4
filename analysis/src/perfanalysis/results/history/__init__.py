"""The results of many runs in one folder, from which regressions are detected. docs/history.md describes it."""
