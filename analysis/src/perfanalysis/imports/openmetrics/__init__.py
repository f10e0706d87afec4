"""OpenMetrics text, read strictly: https://prometheus.io/docs/specs/om/open_metrics_spec/ (version 1.0)."""
