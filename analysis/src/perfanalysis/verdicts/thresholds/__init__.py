"""Judge a run against thresholds: a verdict file, JUnit, a section of the report, an exit code."""
