"""OpenMetrics text, a file of numbers with labels: https://prometheus.io/docs/specs/om/open_metrics_spec/."""
