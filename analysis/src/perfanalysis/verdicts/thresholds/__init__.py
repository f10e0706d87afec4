"""Judge a run by thresholds: a verdict file, JUnit, a part of the report, an exit code."""
