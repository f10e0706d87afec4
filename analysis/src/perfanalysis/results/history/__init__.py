"""The results of many runs in one folder: what regressions are told from. docs/history.md describes it."""
